#include "solver/share_solver.h"

#include <gtest/gtest.h>

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

TEST(Static, neverMoves) {
  auto solver = makeStatic({7, 3});
  solver->observe(std::vector<DeviceSample>{{0, 50, 3.0}, {50, 100, 1.0}}, 100);
  EXPECT_DOUBLE_EQ(solver->propose()[0], 0.7);
}

} // namespace
} // namespace libsplit::solver
