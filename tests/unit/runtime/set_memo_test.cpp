#include "runtime/set_memo.h"

#include "runtime/directory.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

/// The interior of rows [begin, end) of a grid 100 bytes wide.
ByteSet interior(std::uint64_t begin, std::uint64_t end) {
  ByteSet set;
  for (std::uint64_t row = begin; row < end; ++row)
    set.add({100 * row + 1, 100 * row + 99});
  return set;
}

TEST(ByteSet, sharesItsRangesWithCopiesUntilOneIsChanged) {
  ByteSet set = interior(0, 50);
  const ByteSet copy = set;
  EXPECT_TRUE(copy.isSame(set));
  set.add({7000, 7001});
  EXPECT_FALSE(copy.isSame(set));
  EXPECT_EQ(copy, interior(0, 50));
  EXPECT_TRUE(ByteSet().isSame(subtract(copy, copy)));
}

TEST(SetMemo, givesWhatTheOperationsGive) {
  SetMemo memo;
  const ByteSet a = interior(0, 60), b = interior(40, 90);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(memo.unite(a, b), interior(0, 90));
    EXPECT_EQ(memo.intersect(a, b), interior(40, 60));
    EXPECT_EQ(memo.subtract(a, b), interior(0, 40));
    EXPECT_EQ(memo.subtract(b, a), interior(60, 90));
  }
}

TEST(SetMemo, givesTheSameSetForTheSameQuestion) {
  SetMemo memo;
  const ByteSet a = interior(0, 60), b = interior(40, 90);
  EXPECT_TRUE(memo.unite(a, b).isSame(memo.unite(a, b)));
}

TEST(SetMemo, recognisesAnEqualSetThatCameAboutInAnotherWay) {
  SetMemo memo;
  const ByteSet a = interior(0, 60), b = interior(60, 90);
  const ByteSet both = memo.unite(a, b);
  EXPECT_TRUE(memo.subtract(both, b).isSame(a));
  EXPECT_TRUE(memo.unite(memo.subtract(both, a), a).isSame(both));
}

TEST(SetMemo, forgetsTheOldestAndStaysRight) {
  SetMemo memo;
  for (std::uint64_t round = 0; round < 3; ++round)
    for (std::uint64_t i = 0; i < 2 * SetMemo::capacity; ++i)
      EXPECT_EQ(memo.subtract(interior(i, i + 100), interior(i + 50, i + 100)),
                interior(i, i + 50));
}

/// Two nodes exchange halos for ever: after a few steps every question has been asked before.
TEST(Directory, comesBackToTheSameSetsInALoop) {
  const ByteSet written[2] = {interior(1, 50), interior(50, 99)};
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
