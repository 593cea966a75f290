#include "analysis-pass/summary/image.h"

#include <gtest/gtest.h>

#include <random>

namespace libsplit {
namespace {

StridedRuns runs(Int base, Int length, std::vector<Stride> strides) {
  StridedRuns made;
  made.base = base;
  made.length = length;
  made.bufferSize = 4096;
  for (const Stride& each : strides)
    made.add(each);
  return made;
}

ByteSet bytesOf(const std::vector<StridedRuns>& all) {
  ByteSet bytes;
  for (const StridedRuns& each : all)
    EXPECT_TRUE(addRuns(bytes, each, 65536));
  return bytes;
}

TEST(Coalesce, aPeriodicRowIsWhole) {
  std::vector<StridedRuns> parts = {runs(28, 4, {{32, 16}}), runs(0, 4, {{4, 7}, {32, 16}})};
  coalesce(parts);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(toString(bytesOf(parts)), "[0,512)");
}

TEST(Coalesce, fourCornersOfAPeriodicPlaneAreOneRun) {
  const Stride inRow{4, 7}, rows{32, 15};
  std::vector<StridedRuns> parts = {runs(480 + 28, 4, {}), runs(480, 4, {inRow}),
                                    runs(28, 4, {rows}), runs(0, 4, {inRow, rows})};
  coalesce(parts);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(toString(bytesOf(parts)), "[0,512)");
}

TEST(Coalesce, whatHasGapsOrOtherStridesStaysApart) {
  std::vector<StridedRuns> parts = {runs(0, 4, {{32, 4}}), runs(8, 4, {{32, 4}}),
                                    runs(4, 4, {{64, 4}})};
  const ByteSet before = bytesOf(parts);
  coalesce(parts);
  EXPECT_EQ(parts.size(), 3u);
  EXPECT_EQ(bytesOf(parts), before);
}

TEST(Coalesce, neverChangesTheBytes) {
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto pick = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    std::vector<StridedRuns> parts;
    for (int n = pick(0, 6); n > 0; --n) {
      std::vector<Stride> strides;
      for (int s = pick(0, 3); s > 0; --s)
        strides.push_back({Int{4 << pick(0, 5)}, Int{pick(1, 5)}});
      parts.push_back(runs(4 * pick(-10, 60), 4 * pick(1, 4), strides));
    }
    const ByteSet before = bytesOf(parts);
    coalesce(parts);
    ASSERT_EQ(bytesOf(parts), before);
  }
}

} // namespace
} // namespace libsplit
