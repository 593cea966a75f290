#include "solver/share_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace libsplit::solver {
namespace {

TEST(FixedPoint, givesWorkInProportionToTheSpeedShown) {
  auto solver = makeFixedPoint({0.5, 0.5});
  solver->observe(std::vector<DeviceSample>{{0, 50, 3.0}, {50, 100, 1.0}}, 100);
  EXPECT_NEAR(solver->propose()[0], 0.25, 1e-12);
  EXPECT_NEAR(solver->propose()[1], 0.75, 1e-12);
}

TEST(FixedPoint, startsFromTheGivenSharesMadeASimplex) {
  auto solver = makeFixedPoint({3, 1});
  EXPECT_DOUBLE_EQ(solver->propose()[0], 0.75);
}

TEST(FixedPoint, aDeviceThatGotNoGroupKeepsItsKnownSpeed) {
  auto solver = makeFixedPoint({0.5, 0.5});
  solver->observe(std::vector<DeviceSample>{{0, 50, 1.0}, {50, 100, 1.0}}, 100);
  solver->observe(std::vector<DeviceSample>{{0, 0, 0.0}, {0, 100, 2.0}}, 100);
  EXPECT_NEAR(solver->propose()[0], 0.5, 1e-12);
}

TEST(FixedPoint, absurdTimingsAreIgnored) {
  auto solver = makeFixedPoint({0.5, 0.5});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, inf, -1.0, 0.0})
    solver->observe(std::vector<DeviceSample>{{0, 50, bad}, {50, 100, bad}}, 100);
  EXPECT_DOUBLE_EQ(solver->propose()[0], 0.5);
}

TEST(FixedPoint, aBalancedLaunchConvergesAndKeepsTheShares) {
  auto solver = makeFixedPoint({0.5, 0.5});
  solver->observe(std::vector<DeviceSample>{{0, 50, 1.0}, {50, 100, 1.01}}, 100);
  EXPECT_EQ(solver->summary().stop, Stop::Converged);
  EXPECT_DOUBLE_EQ(solver->propose()[0], 0.5);
}

// Each launch moves what its shares made anew, three times as long as it is computed.
TEST(Methods, sharesRestThoughEachChangeOfThemMovesData) {
  const auto settles = [](ShareSolver& solver) {
    double moved = 0.3, share = 0;
    for (int launch = 0; launch < 20; ++launch) {
      share = solver.propose()[0];
      const auto groups = static_cast<std::uint64_t>(share * 1000 + 0.5);
      const double toFirst = 3 * std::max(0.0, share - moved);
      const double toSecond = 3 * std::max(0.0, moved - share);
      moved = share;
      solver.observe(std::vector<DeviceSample>{{0, groups, share + toFirst, toFirst},
                                               {groups, 1000, 1 - share + toSecond, toSecond}},
                     1000);
    }
    return std::abs(share - 0.5) < 0.02 && std::abs(solver.propose()[0] - 0.5) < 0.02;
  };
  EXPECT_TRUE(settles(*makeFixedPoint({0.3, 0.7})));
  EXPECT_TRUE(settles(*makeBroyden({0.3, 0.7}, BroydenUpdate::Good)));
  EXPECT_TRUE(settles(*makeBroyden({0.3, 0.7}, BroydenUpdate::Bad)));
  EXPECT_TRUE(settles(*makeProfile(2)));
}

/// Times of two devices, the first of which gets dearer per group the more it has: 1 + 3x.
std::vector<DeviceSample> bent(double share) {
  const auto groups = static_cast<std::uint64_t>(share * 10000 + 0.5);
  const double x = static_cast<double>(groups) / 10000;
  return {{0, groups, x * (1 + 3 * x)}, {groups, 10000, 1 - x}};
}

TEST(Broyden, takesTheFixedPointStepFirst) {
  auto broyden = makeBroyden({0.5, 0.5});
  auto fixedPoint = makeFixedPoint({0.5, 0.5});
  broyden->observe(bent(0.5), 10000);
  fixedPoint->observe(bent(0.5), 10000);
  EXPECT_NEAR(broyden->propose()[0], fixedPoint->propose()[0], 1e-12);
}

TEST(Broyden, isCloserThanTheFixedPointAfterFourLaunchesWhereSpeedBendsWithTheShare) {
  // x (1 + 3x) = 1 - x: x = 1/3.
  auto distance = [](ShareSolver& solver) {
    for (int launch = 0; launch < 4; ++launch)
      solver.observe(bent(solver.propose()[0]), 10000);
    return std::abs(solver.propose()[0] - 1.0 / 3);
  };
  const Options exact{0};
  const double fixedPoint = distance(*makeFixedPoint({0.5, 0.5}, exact));
  EXPECT_LT(distance(*makeBroyden({0.5, 0.5}, BroydenUpdate::Good, exact)), fixedPoint / 3);
  EXPECT_LT(distance(*makeBroyden({0.5, 0.5}, BroydenUpdate::Bad, exact)), fixedPoint / 3);
}

TEST(Broyden, keepsItsMatrixWhereNothingMoved) {
  auto solver = makeBroyden({0.5, 0.5});
  solver->observe(bent(0.5), 10000);
  solver->observe(bent(0.5), 10000); // the same launch again: dx = dG = 0
  EXPECT_EQ(solver->summary().stop, Stop::SingularUpdate);
  EXPECT_GT(solver->propose()[0], 0);
}

TEST(Static, neverMoves) {
  auto solver = makeStatic({7, 3});
  solver->observe(std::vector<DeviceSample>{{0, 50, 3.0}, {50, 100, 1.0}}, 100);
  EXPECT_DOUBLE_EQ(solver->propose()[0], 0.7);
}

} // namespace
} // namespace libsplit::solver
