#include "runtime/cost/timed_turns.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

/// Of `launches` in a row that take 300 us, and as much more as timing costs.
unsigned timedOf(TimedTurns& turns, unsigned launches, double cost, bool isAlone = true) {
  unsigned timed = 0;
  for (unsigned i = 0; i < launches; ++i) {
    const bool isTimed = turns.next(false, isAlone);
    timed += isTimed;
    turns.took(300e-6, isTimed ? cost : 0);
  }
  return timed;
}

TEST(TimedTurns, TimeWhatIsWanted) {
  TimedTurns turns;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(turns.next(true, i % 2 == 0));
    turns.took(1e-6, 1e-3);
  }
}

TEST(TimedTurns, TimeAllWhereThatCostsNothing) {
  TimedTurns turns;
  EXPECT_EQ(timedOf(turns, 1000, 0), 1000);
}

TEST(TimedTurns, SpendAPartOnTheRest) {
  TimedTurns turns;
  const unsigned timed = timedOf(turns, 10000, 14e-6);
  EXPECT_LE(timed * 14e-6, 10000 * 300e-6 * TimedTurns::part + TimedTurns::turn * 14e-6);
  EXPECT_GE(timed * 14e-6, 10000 * 300e-6 * TimedTurns::part / 2);
}

TEST(TimedTurns, DoNotLiveOnOneLaunchThatTookLong) {
  TimedTurns turns;
  timedOf(turns, 20, 14e-6);
  turns.took(1, 0); // which would pay for all of them
  EXPECT_LE(timedOf(turns, 100, 14e-6), 40);
}

TEST(TimedTurns, TimeSeveralInARow) {
  TimedTurns turns;
  unsigned inARow = 0, turnsSeen = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool isTimed = turns.next(false, true);
    turns.took(300e-6, isTimed ? 50e-6 : 0);
    if (!isTimed && inARow > 0) {
      EXPECT_GE(inARow, TimedTurns::turn);
      ++turnsSeen;
    }
    inARow = isTimed ? inARow + 1 : 0;
  }
  EXPECT_GT(turnsSeen, 3);
}

TEST(TimedTurns, ChangeNothingBehindWhatIsUnderWay) {
  TimedTurns turns;
  EXPECT_TRUE(turns.next(true, true));
  EXPECT_EQ(timedOf(turns, 100, 1e-3, false), 100) << "they would run beside those before";
  EXPECT_FALSE(turns.next(false, true));
  turns.took(100, 0); // which pays for many
  EXPECT_EQ(timedOf(turns, 100, 14e-6, false), 0);
  EXPECT_TRUE(turns.next(false, true));
}

TEST(TimedTurns, GoOnBehindWhatWasWanted) {
  TimedTurns turns;
  turns.next(true, true);
  turns.took(0, 1); // more than there will be
  for (unsigned i = 1; i < TimedTurns::turn; ++i)
    EXPECT_TRUE(turns.next(false, true));
  EXPECT_FALSE(turns.next(false, true));
}

} // namespace
} // namespace libsplit::runtime
