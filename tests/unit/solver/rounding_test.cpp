#include "solver/share_solver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace libsplit::solver {
namespace {

using Groups = std::vector<std::uint64_t>;

Groups round(std::vector<double> shares, std::uint64_t total, std::uint64_t granularity = 1) {
  return roundToGroups(shares, total, granularity);
}

TEST(Rounding, largestRemainderTakesTheLeftover) {
  EXPECT_EQ(round({0.5, 0.3, 0.2}, 7), (Groups{4, 2, 1}));
  EXPECT_EQ(round({0.47, 0.33, 0.20}, 10), (Groups{5, 3, 2}));
}

TEST(Rounding, tiesGoToTheLowerIndex) {
  EXPECT_EQ(round({0.5, 0.5}, 3), (Groups{2, 1}));
}

TEST(Rounding, aDeviceWithoutShareGetsNothing) {
  EXPECT_EQ(round({0, 1, 0}, 17), (Groups{0, 17, 0}));
}

TEST(Rounding, granularityIsKeptAndItsLeftoverGoesToTheLastWorker) {
  EXPECT_EQ(round({0.5, 0.5, 0}, 19, 4), (Groups{8, 11, 0}));
  EXPECT_EQ(round({0.2, 0.8}, 3, 8), (Groups{0, 3}));
}

TEST(Rounding, absurdSharesStillGiveEveryGroupOnce) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& shares :
       {std::vector<double>{nan, nan}, {inf, 1}, {-1, -2}, {0, 0}, {1e308, 1e308}, {1e-320, 0}}) {
    const Groups groups = round(shares, 1000);
    EXPECT_EQ(std::accumulate(groups.begin(), groups.end(), std::uint64_t{0}), 1000u);
  }
}

TEST(Rounding, noDevicesAndNoGroupsAreFine) {
  EXPECT_TRUE(round({}, 5).empty());
  EXPECT_EQ(round({0.5, 0.5}, 0), (Groups{0, 0}));
}

} // namespace
} // namespace libsplit::solver
