#include "runtime/plan/set_memo.h"

#include "runtime/plan/directory.h"
#include "tests/unit/runtime/grid.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

constexpr std::uint64_t width = 100; // of the grids, in bytes

TEST(ByteSet, sharesItsRangesWithCopiesUntilOneIsChanged) {
  ByteSet set = interior(0, 50, width);
  const ByteSet copy = set;
  EXPECT_TRUE(copy.isSame(set));
  set.add({7000, 7001});
  EXPECT_FALSE(copy.isSame(set));
  EXPECT_EQ(copy, interior(0, 50, width));
  EXPECT_TRUE(ByteSet().isSame(subtract(copy, copy)));
}

TEST(SetMemo, givesWhatTheOperationsGive) {
  SetMemo memo;
  const ByteSet a = interior(0, 60, width), b = interior(40, 90, width);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(memo.unite(a, b), interior(0, 90, width));
    EXPECT_EQ(memo.intersect(a, b), interior(40, 60, width));
    EXPECT_EQ(memo.subtract(a, b), interior(0, 40, width));
    EXPECT_EQ(memo.subtract(b, a), interior(60, 90, width));
  }
}

TEST(SetMemo, givesTheSameSetForTheSameQuestion) {
  SetMemo memo;
  const ByteSet a = interior(0, 60, width), b = interior(40, 90, width);
  EXPECT_TRUE(memo.unite(a, b).isSame(memo.unite(a, b)));
}

TEST(SetMemo, answersAsTheSetsThemselves) {
  SetMemo memo;
  const ByteSet a = interior(0, 60, width), b = interior(40, 60, width),
                c = interior(60, 90, width);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(memo.contains(a, b));
    EXPECT_FALSE(memo.contains(b, a));
    EXPECT_TRUE(memo.intersects(a, b));
    EXPECT_TRUE(memo.intersects(b, a));
    EXPECT_FALSE(memo.intersects(a, c));
    EXPECT_FALSE(memo.contains(a, c));
  }
}

TEST(SetMemo, recognisesSmallOperandsThatWereMadeAnew) {
  SetMemo memo;
  const ByteSet grid = interior(0, 60, width);
  const ByteSet first = memo.unite(ByteSet(6000, 6100), grid);
  EXPECT_TRUE(memo.unite(ByteSet(6000, 6100), grid).isSame(first));
  EXPECT_FALSE(memo.unite(ByteSet(6000, 6200), grid).isSame(first));
}

TEST(SetMemo, recognisesAnEqualSetThatCameAboutInAnotherWay) {
  SetMemo memo;
  const ByteSet a = interior(0, 60, width), b = interior(60, 90, width);
  const ByteSet both = memo.unite(a, b);
  EXPECT_TRUE(memo.subtract(both, b).isSame(a));
  EXPECT_TRUE(memo.unite(memo.subtract(both, a), a).isSame(both));
}

TEST(SetMemo, forgetsTheOldestAndStaysRight) {
  SetMemo memo;
  for (std::uint64_t round = 0; round < 3; ++round)
    for (std::uint64_t i = 0; i < 2 * SetMemo::capacity; ++i)
      EXPECT_EQ(memo.subtract(interior(i, i + 100, width), interior(i + 50, i + 100, width)),
                interior(i, i + 50, width));
}

/// Two nodes exchange halos for ever: after a few steps every question has been asked before.
TEST(Directory, comesBackToTheSameSetsInALoop) {
  const ByteSet written[2] = {interior(1, 50, width), interior(50, 99, width)};
  const ByteSet needed[2] = {ByteSet(0, 5100), ByteSet(4900, 10000)};
  Directory grids[2] = {{3, 1, 10000}, {3, 1, 10000}};
  auto step = [&](int i) {
    Directory &in = grids[i % 2], &out = grids[1 - i % 2];
    for (NodeId node = 1; node < 3; ++node)
      in.bring(node, needed[node - 1]);
    for (NodeId node = 1; node < 3; ++node)
      out.wrote(node, written[node - 1]);
  };
  for (int i = 0; i < 8; ++i)
    step(i);
  const ByteSet before[2] = {grids[0].valid(1), grids[0].valid(2)};
  step(0);
  step(1);
  EXPECT_TRUE(grids[0].valid(1).isSame(before[0]));
  EXPECT_TRUE(grids[0].valid(2).isSame(before[1]));
}

} // namespace
} // namespace libsplit::runtime
