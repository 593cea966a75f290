#include "runtime/directory.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

constexpr NodeId home = 1, other = 2;

TEST(Directory, StartsValidAtHomeAlone) {
  Directory directory(3, home, 100);
  EXPECT_EQ(directory.valid(home), ByteSet(0, 100));
  EXPECT_TRUE(directory.valid(hostNode).empty());
  EXPECT_TRUE(directory.valid(other).empty());
}

TEST(Directory, MovesOnlyWhatIsMissingAndStopsAtTheHost) {
  Directory directory(3, home, 100);
  EXPECT_EQ(
      directory.bring(other, ByteSet(40, 60)),
      (std::vector<Move>{{home, hostNode, ByteSet(40, 60)}, {hostNode, other, ByteSet(40, 60)}}));
  EXPECT_EQ(
      directory.bring(other, ByteSet(30, 60)),
      (std::vector<Move>{{home, hostNode, ByteSet(30, 40)}, {hostNode, other, ByteSet(30, 40)}}));
  EXPECT_TRUE(directory.bring(other, ByteSet(30, 60)).empty());
  EXPECT_TRUE(directory.bring(home, ByteSet(0, 100)).empty());
}

TEST(Directory, AWriteInvalidatesAllOtherCopies) {
  Directory directory(3, home, 100);
  directory.bring(other, ByteSet(0, 100));
  directory.wrote(other, ByteSet(50, 100));
  EXPECT_EQ(directory.valid(home), ByteSet(0, 50));
  EXPECT_EQ(directory.valid(hostNode), ByteSet(0, 50));
  EXPECT_EQ(directory.valid(other), ByteSet(0, 100));
  EXPECT_EQ(
      directory.bring(home, ByteSet(0, 100)),
      (std::vector<Move>{{other, hostNode, ByteSet(50, 100)}, {hostNode, home, ByteSet(50, 100)}}));
}

TEST(Directory, GathersFromSeveralNodes) {
  Directory directory(4, home, 90);
  directory.wrote(2, ByteSet(30, 60));
  directory.wrote(3, ByteSet(60, 90));
  EXPECT_EQ(directory.bring(hostNode, ByteSet(0, 90)),
            (std::vector<Move>{{home, hostNode, ByteSet(0, 30)},
                               {2, hostNode, ByteSet(30, 60)},
                               {3, hostNode, ByteSet(60, 90)}}));
}

TEST(Directory, TakesBackWhatANodeStillHolds) {
  Directory directory(3, home, 80);
  directory.bring(other, ByteSet(0, 80));
  directory.wrote(hostNode, ByteSet(0, 80));
  const std::uint64_t writes = directory.version();
  directory.confirm(other, ByteSet(0, 40));
  EXPECT_EQ(directory.version(), writes);
  EXPECT_EQ(directory.missing(other, ByteSet(0, 80)), ByteSet(40, 80));
  EXPECT_TRUE(directory.isValid(hostNode, ByteSet(0, 80)));
}

// The essay's stencil: 8 rows of 10 bytes in two buffers that change places, split 4:4.
TEST(Directory, APingPongStencilMovesTheHaloAlone) {
  Directory a(3, home, 80), b(3, home, 80);
  Directory *in = &a, *out = &b;
  for (int step = 0; step < 4; ++step) {
    auto toHome = in->bring(home, ByteSet(0, 50));
    auto toOther = in->bring(other, ByteSet(30, 80));
    if (step == 0) {
      EXPECT_TRUE(toHome.empty());
      ASSERT_EQ(toOther.size(), 2u);
      EXPECT_EQ(toOther[1].bytes, ByteSet(30, 80));
    } else {
      ASSERT_EQ(toHome.size(), 2u);
      EXPECT_EQ(toHome[1].bytes, ByteSet(40, 50));
      ASSERT_EQ(toOther.size(), 2u);
      EXPECT_EQ(toOther[1].bytes, ByteSet(30, 40));
    }
    out->wrote(home, ByteSet(0, 40));
    out->wrote(other, ByteSet(40, 80));
    std::swap(in, out);
  }
}

TEST(Directory, everyWriteGivesAVersionThatNobodyHadBefore) {
  Directory a(2, home, 80), b(2, home, 80);
  EXPECT_NE(a.version(), b.version());
  const std::uint64_t before = a.version();
  a.bring(hostNode, ByteSet(0, 80));
  EXPECT_EQ(a.version(), before);
  a.wrote(home, ByteSet(0, 4));
  EXPECT_NE(a.version(), before);
  EXPECT_NE(a.version(), b.version());
}

TEST(Directory, fillsSmallGapsThatTheSourceHolds) {
  // Rows of 100 bytes whose first and last byte node 2 never writes.
  ByteSet interior;
  for (std::uint64_t row = 0; row < 4; ++row)
    interior.add({100 * row + 1, 100 * row + 99});
  Directory directory(3, 1, 400);
  directory.bring(2, ByteSet(0, 400));
  directory.wrote(2, interior);
  const std::vector<Move> expected = {{2, hostNode, ByteSet(1, 399)},
                                      {hostNode, 1, ByteSet(1, 399)}};
  EXPECT_EQ(directory.bring(1, interior), expected);
}

TEST(Directory, leavesGapsThatTheSourceLacks) {
  ByteSet interior;
  for (std::uint64_t row = 0; row < 4; ++row)
    interior.add({100 * row + 1, 100 * row + 99});
  Directory directory(3, 1, 400);
  directory.wrote(2, interior);
  const std::vector<Move> expected = {{2, hostNode, interior}, {hostNode, 1, interior}};
  EXPECT_EQ(directory.bring(1, interior), expected);
}

} // namespace
} // namespace libsplit::runtime
