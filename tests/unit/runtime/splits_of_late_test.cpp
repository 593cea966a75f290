#include "runtime/cost/splits_of_late.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

constexpr std::uint64_t round = SplitsOfLate::usualRound;

TEST(SplitsOfLate, AreNoneBeforeTheFirst) {
  SplitsOfLate splits;
  EXPECT_FALSE(splits.isAnyOf(round));
  splits.passes(false);
  EXPECT_FALSE(splits.isAnyOf(round));
}

TEST(SplitsOfLate, EndWithARoundOfWhichNoneWasSplit) {
  SplitsOfLate splits;
  splits.passes(true);
  for (std::uint64_t i = 1; i < round; ++i) {
    splits.passes(false);
    EXPECT_TRUE(splits.isAnyOf(round)) << i;
  }
  splits.passes(false);
  EXPECT_FALSE(splits.isAnyOf(round));
  EXPECT_TRUE(splits.isAnyOf(2 * round));
  splits.passes(true);
  EXPECT_TRUE(splits.isAnyOf(round));
}

} // namespace
} // namespace libsplit::runtime
