#include "runtime/cost/cycle_rounds.h"

#include <gtest/gtest.h>

#include <optional>

namespace libsplit::runtime {
namespace {

using Done = CycleRounds::Done;

/// A cycle of two launches.
struct Rounds : CycleRounds {
  Rounds() {
    begin(2);
    beginPhase(1);
    pass({}); // what is under way then is no whole round
    end(9, 1);
  }
  void round(std::uint64_t launches, const std::optional<Done>& done, double seconds) {
    for (std::uint64_t i = 0; i < launches; ++i)
      pass(done);
    end(seconds, launches);
  }
  void rounds(int count, std::uint64_t launches, const std::optional<Done>& done, double seconds) {
    for (int i = 0; i < count; ++i)
      round(launches, done, seconds);
  }
};

constexpr Done home{}, split{false, 1};

TEST(CycleRounds, TellWhatACycleTakesButForTheFirst) {
  Rounds rounds;
  rounds.round(20, home, 99);
  EXPECT_FALSE(rounds.tellHome());
  rounds.rounds(4, 20, home, 10);
  ASSERT_TRUE(rounds.tellHome());
  EXPECT_DOUBLE_EQ(rounds.home(), 1);
  EXPECT_TRUE(rounds.isFirst());
  rounds.round(20, split, 99);
  EXPECT_FALSE(rounds.isFirst());
  for (const double seconds : {8, 7, 30, 7})
    rounds.round(20, split, seconds);
  ASSERT_TRUE(rounds.tellSplit());
  EXPECT_DOUBLE_EQ(rounds.split(), 0.7);
  EXPECT_EQ(rounds.leastSplit(), 0.7);
  rounds.beginPhase(2);
  EXPECT_FALSE(rounds.tellSplit());
}

TEST(CycleRounds, DoNotCountTheFirstAtHomeAfterOthersThatWereSplit) {
  Rounds rounds;
  rounds.rounds(5, 20, home, 10);
  rounds.round(20, split, 7);
  rounds.round(20, home, 1000);
  rounds.rounds(2, 20, home, 10);
  EXPECT_DOUBLE_EQ(rounds.home(), 1);
}

TEST(CycleRounds, AreAddedUpUntilTheyMakeWholeCycles) {
  Rounds rounds;
  rounds.rounds(9, 1, home, 0.5); // the program waits for each launch
  ASSERT_TRUE(rounds.tellHome());
  EXPECT_DOUBLE_EQ(rounds.home(), 1);
}

TEST(CycleRounds, TellNothingIfTheyAreMixedOrOfOthers) {
  Rounds rounds;
  for (int i = 0; i < 20; ++i) {
    rounds.pass(home);
    rounds.pass(split);
    rounds.end(1, 2);
    rounds.round(2, std::nullopt, 1);
    rounds.pass(home);
    rounds.pass(home);
    rounds.end(1, 3); // one passed unseen
    rounds.round(2, home, 0);
  }
  EXPECT_FALSE(rounds.tellHome());
  EXPECT_FALSE(rounds.tellSplit());
}

TEST(CycleRounds, TellNothingMoreOnceTheProgramHardlyEverWaits) {
  Rounds rounds;
  rounds.rounds(5, 2, home, 1);
  EXPECT_TRUE(rounds.tellHome());
  for (int i = 0; i < 1000; ++i)
    rounds.pass(home);
  EXPECT_FALSE(rounds.tellHome());
}

TEST(CycleRounds, TakeAsLongToTimeAsTheyNeedToMakeCycles) {
  CycleRounds rounds;
  rounds.begin(3);
  for (int i = 0; i < 17; ++i) {
    for (int k = 0; k < 20; ++k)
      rounds.pass(home);
    rounds.end(1, 20);
  }
  ASSERT_TRUE(rounds.tellHome()); // three rounds of 20 launches are twenty cycles
  EXPECT_GE(rounds.longestTrial(), 5U * 20);
}

} // namespace
} // namespace libsplit::runtime
