#include "runtime/cost/between_launches.h"

#include <gtest/gtest.h>

#include <utility>

namespace libsplit::runtime {
namespace {

using Kind = ProgramCommand::Kind;
constexpr std::uint64_t mib = 1 << 20;

TEST(BetweenLaunches, TakesAllSinceTheLastTimeOnce) {
  char a = 0, b = 0;
  BetweenLaunches between;
  between.note(&a, Kind::Write, {0, 8});
  between.note(&b, Kind::Read, {4, 8});
  between.note(&a, Kind::Write, {16, 24});
  between.note(&a, Kind::Write, {24, 24}); // of nothing
  const auto commands = between.take();
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].buffer, &a);
  EXPECT_EQ(toString(commands[0].bytes), "[0,8) [16,24)");
  EXPECT_EQ(commands[1].kind, Kind::Read);
  EXPECT_TRUE(between.take().empty());
}

TEST(BetweenLaunches, DoesNotGrowWithWhatTheProgramDoes) {
  char a = 0;
  BetweenLaunches between;
  for (std::uint64_t i = 0; i < 10000; ++i)
    between.note(&a, Kind::Write, {2 * i, 2 * i + 1});
  for (std::uint64_t i = 0; i < 10000; ++i)
    between.note(&a + i, Kind::Read, {0, 1});
  const auto commands = between.take();
  EXPECT_LE(commands.size(), 64u);
  EXPECT_LE(commands[0].bytes.ranges().size(), 64u);
  EXPECT_EQ(commands[0].bytes.hull(), (ByteRange{0, 19999}));
}

/// What a launch comes with, in these rounds.
struct Program {
  char points = 0, labels = 0;
  UsualCommands usual;
  bool launch(std::uint64_t written, std::uint64_t read) {
    BetweenLaunches between;
    between.note(&labels, Kind::Read, {0, read});
    between.note(&points, Kind::Write, {0, written});
    return usual.cameWith(between.take());
  }
};

TEST(UsualCommands, AreThoseOfTwoLaunchesInARow) {
  Program program;
  EXPECT_FALSE(program.launch(1024 * mib, 0)); // what all begins with
  EXPECT_FALSE(program.launch(16 * mib, 4 * mib));
  EXPECT_TRUE(program.usual.commands().empty());
  EXPECT_FALSE(program.usual.isKnown());
  EXPECT_TRUE(program.launch(16 * mib, 4 * mib));
  EXPECT_TRUE(program.usual.isKnown());
  ASSERT_EQ(program.usual.commands().size(), 2u);
  EXPECT_EQ(program.usual.commands()[1].bytes.size(), 16 * mib);
  EXPECT_FALSE(program.launch(17 * mib, 3 * mib)); // about as much
}

TEST(UsualCommands, AreNotChangedByWhatComesNowAndThen) {
  Program program;
  for (unsigned i = 0; i < 100; ++i)
    EXPECT_FALSE(program.launch(0, i % 10 == 0 ? 4 * mib : 0));
  EXPECT_TRUE(program.usual.commands().empty());
}

TEST(UsualCommands, FollowWhatChangesForGood) {
  Program program;
  program.launch(16 * mib, 0);
  EXPECT_TRUE(program.launch(16 * mib, 0));
  EXPECT_FALSE(program.launch(64 * mib, 0));
  EXPECT_TRUE(program.launch(64 * mib, 0));
  EXPECT_FALSE(program.launch(0, 0));
  EXPECT_TRUE(program.launch(0, 0));
  EXPECT_TRUE(program.usual.commands().empty());
}

} // namespace
} // namespace libsplit::runtime
