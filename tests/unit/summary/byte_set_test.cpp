#include "analysis-pass/summary/byte_set.h"

#include <gtest/gtest.h>

namespace libsplit {
namespace {

ByteSet set(std::initializer_list<ByteRange> ranges) {
  ByteSet result;
  for (const ByteRange& r : ranges)
    result.add(r);
  return result;
}

TEST(ByteSet, rangesThatTouchBecomeOne) {
  EXPECT_EQ(toString(set({{0, 4}, {4, 8}})), "[0,8)");
  EXPECT_EQ(toString(set({{4, 8}, {0, 4}})), "[0,8)");
  EXPECT_EQ(toString(set({{0, 4}, {8, 12}, {4, 8}})), "[0,12)");
}

TEST(ByteSet, emptyRangesAddNothing) {
  EXPECT_TRUE(ByteSet(7, 7).empty());
  EXPECT_EQ(toString(ByteSet{}), "{}");
  EXPECT_EQ(ByteSet{}.hull(), (ByteRange{0, 0}));
}

TEST(ByteSet, orderOfAddingDoesNotMatter) {
  EXPECT_EQ(set({{20, 24}, {0, 2}, {10, 12}, {1, 11}}), set({{0, 12}, {20, 24}}));
}

TEST(ByteSet, subtractionCutsHolesAcrossSeveralRanges) {
  EXPECT_EQ(toString(subtract(set({{0, 10}, {20, 30}, {40, 50}}), set({{5, 25}, {29, 45}}))),
            "[0,5) [25,29) [45,50)");
}

TEST(ByteSet, oneHoleMayCutTwoRanges) {
  EXPECT_EQ(toString(subtract(set({{0, 10}, {12, 20}}), ByteSet(8, 14))), "[0,8) [14,20)");
}

TEST(ByteSet, containsNeedsEveryByte) {
  EXPECT_TRUE(set({{0, 10}, {20, 30}}).contains(set({{2, 4}, {20, 30}})));
  EXPECT_FALSE(set({{0, 10}, {20, 30}}).contains(ByteSet(9, 11)));
  EXPECT_TRUE(ByteSet{}.contains(ByteSet{}));
}

TEST(ByteSet, neighboursDoNotIntersect) {
  EXPECT_FALSE(ByteSet(0, 4).intersects(ByteSet(4, 8)));
  EXPECT_TRUE(ByteSet(0, 5).intersects(ByteSet(4, 8)));
}

TEST(ByteSet, fillsGapsThatAreSmallAndCovered) {
  ByteSet set(0, 160);
  set.add({170, 200}); // a gap of a sixteenth
  set.add({202, 210}); // more than a sixteenth
  EXPECT_EQ(toString(fillGaps(set, ByteSet(0, 300))), "[0,200) [202,210)");
  EXPECT_EQ(toString(fillGaps(set, ByteSet(165, 300))), "[0,160) [165,200) [202,210)");
  EXPECT_EQ(fillGaps(set, {}), set);
  EXPECT_EQ(toString(fillGaps(set, ByteSet(0, 300), 2)), "[0,210)");
}

TEST(ByteSet, intersectsFewWithMany) {
  ByteSet many;
  for (std::uint64_t row = 0; row < 1000; ++row)
    many.add({row * 10 + 1, row * 10 + 9});
  ByteSet few(5000, 5010);
  few.add({7005, 7013});
  EXPECT_EQ(toString(intersect(many, few)), "[5001,5009) [7005,7009) [7011,7013)");
  EXPECT_EQ(intersect(few, many), intersect(many, few));
  EXPECT_TRUE(intersect(many, ByteSet(9, 11)).empty());
  EXPECT_TRUE(intersect(many, ByteSet(9999, 20000)).empty());
}

} // namespace
} // namespace libsplit
