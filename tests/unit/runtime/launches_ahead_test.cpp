#include "runtime/cost/launches_ahead.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

std::size_t aheadAfter(double seconds) {
  LaunchesAhead ahead;
  for (int i = 0; i < 10; ++i)
    ahead.took(seconds);
  return ahead.launches();
}

TEST(LaunchesAhead, AreTheMoreTheShorterTheyAre) {
  EXPECT_EQ(LaunchesAhead().launches(), LaunchesAhead::least);
  EXPECT_EQ(aheadAfter(1e-6), LaunchesAhead::most);
  EXPECT_EQ(aheadAfter(10e-3), LaunchesAhead::least);
  EXPECT_NEAR(static_cast<double>(aheadAfter(50e-6)), 40, 1);
}

TEST(LaunchesAhead, FollowWhatLaunchesTakeByNow) {
  LaunchesAhead ahead;
  for (int i = 0; i < 10; ++i)
    ahead.took(10e-3);
  // Many are over by the time that somebody looks at the first.
  for (int i = 0; i < 400; ++i)
    ahead.took(i % 20 == 0 ? 1e-3 : 0);
  EXPECT_GT(ahead.launches(), 20U);
  for (int i = 0; i < 100; ++i)
    ahead.took(10e-3);
  EXPECT_EQ(ahead.launches(), LaunchesAhead::least);
}

} // namespace
} // namespace libsplit::runtime
