#include "runtime/cost/launch_history.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>

namespace libsplit::runtime {
namespace {

std::vector<std::byte> bytesOf(std::int32_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

TEST(ValueClass, smallValuesStandForThemselvesAndLargeOnesForTheirPowerOfTwo) {
  std::set<int> small;
  for (int value = -8; value <= 8; ++value)
    small.insert(valueClass(value));
  EXPECT_EQ(small.size(), 17u);
  EXPECT_NE(valueClass(8), valueClass(9));
  EXPECT_EQ(valueClass(9), valueClass(15));
  EXPECT_NE(valueClass(15), valueClass(16));
  EXPECT_EQ(valueClass(512), valueClass(1023));
  EXPECT_EQ(valueClass(-512), -valueClass(512));
}

TEST(ValueClass, growsWithTheValueUpToTheLargest) {
  int before = valueClass(0);
  for (int bit = 0; bit < 63; ++bit) {
    EXPECT_GT(valueClass(std::int64_t{1} << bit), before) << bit;
    before = valueClass(std::int64_t{1} << bit);
  }
  EXPECT_LT(valueClass(std::numeric_limits<std::int64_t>::min()), valueClass(-1));
}

TEST(WorkScalars, areThoseOfGuardsLoopsAndOffsetsAlone) {
  KernelSummary summary;
  Access access;
  access.offset = Expr::argument(1, 32, true) * Expr::constant(4);
  access.guards.push_back(
      {Expr::id(Expr::Op::GlobalId, 0), Guard::Relation::Less, Expr::argument(2, 32, true)});
  access.loops.push_back({Expr::argument(3, 64, false)});
  summary.accesses = {access, access};
  std::vector<WorkScalar> scalars = workScalars(summary);
  ASSERT_EQ(scalars.size(), 3u);
  EXPECT_EQ(scalars[0].parameter, 1u);
  EXPECT_EQ(scalars[1].parameter, 2u);
  EXPECT_EQ(scalars[2].parameter, 3u);
  EXPECT_EQ(scalars[2].width, 64u);
}

TEST(WorkScalars, areReadWithTheirSignAndNeverBeyondTheArgument) {
  const std::vector<WorkScalar> scalars = {
      {0, 0, 32, true}, {0, 0, 32, false}, {1, 0, 64, true}, {7, 0, 32, true}};
  const auto minusOne = bytesOf(-1);
  const std::vector<ArgumentValue> arguments = {{minusOne, 0}, {minusOne, 0}};
  EXPECT_EQ(classesOf(scalars, arguments), (std::vector<int>{-1, valueClass(0xFFFFFFFF), 0, 0}));
}

NDRange square(std::uint64_t side, std::uint64_t offset = 0) {
  NDRange range;
  range.dimensions = 2;
  range.global = {side, side, 1};
  range.local = {16, 16, 1};
  range.offset = {offset, offset, 0};
  return range;
}

TEST(LaunchHistories, NameRangesAfterTheFirstOfTheirClass) {
  LaunchHistories histories;
  EXPECT_EQ(histories.nameOf(square(1024), true), "1024x1024/16x16");
  EXPECT_EQ(histories.nameOf(square(64), true), "64x64/16x16");
  EXPECT_EQ(histories.nameOf(square(80), true), "80x80/16x16"); // so few work-groups count
  EXPECT_EQ(histories.nameOf(square(1040), true), "1024x1024/16x16");
  EXPECT_EQ(histories.nameOf(square(1040), false), "1040x1040");
  EXPECT_EQ(histories.nameOf(square(1040, 3), true), "1040x1040/16x16+3x3");
  EXPECT_EQ(histories.nameOf(square(2048), true), "2048x2048/16x16");
  EXPECT_EQ(histories.nameOf(square(2043), true), "2043x2043/16x16"); // work-groups that differ
}

TEST(LaunchHistories, KnowAllStepsOfAnElimination) {
  LaunchHistories histories;
  std::set<std::string> names;
  for (std::uint64_t k = 1; k < 4096; ++k)
    names.insert(histories.nameOf(square((4096 - k + 15) / 16 * 16, k), true));
  EXPECT_LE(names.size(), LaunchHistories::capacity);
}

TEST(LaunchHistories, NameRangesThatDriversRefuse) {
  LaunchHistories histories;
  NDRange range = square(64);
  range.local[1] = 0;
  EXPECT_EQ(histories.nameOf(range, true), "64x64/16x0");
}

TEST(LaunchHistories, forgetTheLongestUnused) {
  LaunchHistories histories;
  const LaunchKey first{"64", {}};
  histories.at(first).splits = 7;
  for (std::size_t i = 0; i < 3 * LaunchHistories::capacity; ++i) {
    histories.at({"64", {static_cast<int>(i)}}).splits = 1;
    EXPECT_EQ(histories.at(first).splits, 7u);
  }
  EXPECT_EQ(histories.size(), LaunchHistories::capacity);
  EXPECT_EQ(histories.at({"64", {0}}).splits, 0u);
}

} // namespace
} // namespace libsplit::runtime
