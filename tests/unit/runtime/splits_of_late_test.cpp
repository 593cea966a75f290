#include "runtime/cost/splits_of_late.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

TEST(SplitsOfLate, AreNoneBeforeTheFirst) {
  SplitsOfLate splits;
  EXPECT_FALSE(splits);
  splits.passes(false);
  EXPECT_FALSE(splits);
}

TEST(SplitsOfLate, EndWithARoundOfWhichNoneWasSplit) {
  SplitsOfLate splits;
  splits.passes(true);
  for (std::uint64_t i = 1; i < SplitsOfLate::longestRound; ++i) {
    splits.passes(false);
    EXPECT_TRUE(splits) << i;
  }
  splits.passes(false);
  EXPECT_FALSE(splits);
  splits.passes(true);
  EXPECT_TRUE(splits);
}

} // namespace
} // namespace libsplit::runtime
