#include "runtime/plan/windows.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

using Chosen = std::optional<std::vector<ByteRange>>;

constexpr WindowLimits limits(std::uint64_t room) {
  return {room, room, 4};
}

CopyWish wish(std::uint64_t size, ByteRange touched, std::optional<ByteRange> has = {}) {
  return {size, touched, has, true};
}

Chosen choose(const std::vector<CopyWish>& wishes, const WindowLimits& within) {
  return chooseWindows(wishes, within);
}

TEST(Windows, AreNoneWhereAllFitsWhole) {
  EXPECT_EQ(choose({wish(80, {40, 60}), wish(20, {0, 20})}, limits(100)),
            (Chosen({{0, 80}, {0, 20}})));
}

TEST(Windows, HoldWhatIsTouchedWithSlack) {
  // An eighth of 32 at each end.
  EXPECT_EQ(choose({wish(80, {40, 72}), wish(80, {0, 32})}, limits(100)),
            (Chosen({{36, 76}, {0, 36}})));
}

TEST(Windows, AreAlignedButForTheBuffersEnd) {
  EXPECT_EQ(choose({wish(79, {42, 77})}, {70, 70, 16}), (Chosen({{32, 79}})));
  EXPECT_EQ(choose({wish(200, {42, 50})}, {70, 70, 16}), (Chosen({{32, 64}})));
}

TEST(Windows, AreWholeWhereOnlyTheEndsAreNotTouched) {
  EXPECT_TRUE(needsWhole(wish(80, {0, 80}), 16));
  EXPECT_TRUE(needsWhole(wish(80, {15, 65}), 16));
  EXPECT_FALSE(needsWhole(wish(80, {15, 64}), 16));
  EXPECT_FALSE(needsWhole(wish(80, {16, 80}), 16));
  EXPECT_TRUE(needsWhole(wish(16, {4, 8}), 16));
  EXPECT_EQ(leastFor(wish(80, {15, 40}), 16), 48U);
}

TEST(Windows, HaveRoomForAHaloWhereThereIsNoneForMore) {
  // A 256th of 2048 at each end that is not the buffer's.
  EXPECT_EQ(choose({wish(8192, {4096, 6144}), wish(8192, {0, 2048})}, limits(4200)),
            (Chosen({{4088, 6152}, {0, 2056}})));
}

TEST(Windows, GoWithoutSlackWhereThereIsNoRoomForIt) {
  EXPECT_EQ(choose({wish(80, {40, 72}), wish(80, {0, 32})}, limits(64)),
            (Chosen({{40, 72}, {0, 32}})));
  EXPECT_EQ(choose({wish(80, {40, 72}), wish(80, {0, 32})}, limits(63)), std::nullopt);
}

TEST(Windows, StayWhereTheyCover) {
  EXPECT_EQ(choose({wish(80, {44, 60}, ByteRange{40, 72})}, limits(40)), (Chosen({{40, 72}})));
  EXPECT_EQ(choose({wish(80, {}, ByteRange{40, 72})}, limits(40)), (Chosen({{40, 72}})));
}

TEST(Windows, GrowOverWhatTheyHeld) {
  EXPECT_EQ(choose({wish(80, {20, 52}, ByteRange{40, 72})}, limits(70)), (Chosen({{16, 72}})));
  EXPECT_EQ(choose({wish(80, {20, 52}, ByteRange{40, 72})}, limits(52)), (Chosen({{20, 72}})));
  EXPECT_EQ(choose({wish(80, {20, 52}, ByteRange{40, 72})}, limits(51)), (Chosen({{20, 52}})));
  EXPECT_EQ(choose({wish(80, {20, 52}, ByteRange{40, 72})}, limits(80)), (Chosen({{0, 80}})));
}

TEST(Windows, TakeTheRoomOfWholeCopiesWhereThereIsNoOther) {
  const std::vector<CopyWish> wishes = {wish(80, {0, 32}, ByteRange{0, 80}), wish(80, {0, 32})};
  EXPECT_EQ(choose(wishes, limits(112)), (Chosen({{0, 80}, {0, 32}})));
  EXPECT_EQ(choose(wishes, limits(100)), (Chosen({{0, 32}, {0, 32}})));
}

TEST(Windows, GrowNoLargerThanTheDriverPromises) {
  EXPECT_EQ(choose({wish(80, {0, 32})}, {100, 40, 4}), (Chosen({{0, 80}})));
  CopyWish refused = wish(80, {0, 32});
  refused.mayBeWhole = false;
  EXPECT_EQ(choose({refused}, {100, 40, 4}), (Chosen({{0, 36}})));
  EXPECT_EQ(choose({refused}, {100, 35, 4}), (Chosen({{0, 32}})));
  EXPECT_EQ(choose({refused}, {100, 31, 4}), (Chosen({{0, 32}}))); // it may be had all the same
}

TEST(Windows, AreNeverEmpty) {
  EXPECT_EQ(choose({wish(80, {}), wish(80, {8, 40})}, limits(70)), (Chosen({{0, 4}, {4, 44}})));
  EXPECT_EQ(choose({wish(3, {}), wish(80, {8, 40})}, limits(70)), (Chosen({{0, 3}, {4, 44}})));
}

TEST(Windows, AreNoneForWhatIsTouchedEverywhere) {
  EXPECT_EQ(choose({wish(80, {0, 80}), wish(80, {0, 32})}, limits(100)), std::nullopt);
}

} // namespace
} // namespace libsplit::runtime
