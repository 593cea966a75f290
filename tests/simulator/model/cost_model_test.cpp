#include "tests/simulator/model/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace libsplit::simulator {
namespace {

CostModel two(double deviation = 2) {
  const DevicePrior devices[] = {{1, 0}, {1, deviation}};
  return {devices, 1e-3, 5};
}

TEST(CostModel, knowsLittleAtFirstAndFewPercentAfterSomeLaunches) {
  CostModel model = two();
  EXPECT_GT(model.deviation(1, 0, 1, false), 2);
  for (int i = 0; i < 10; ++i)
    model.learn(std::vector<Timing>{{0, 0, 0.75, 0.03}, {1, 0.75, 1, 0.03}});
  EXPECT_NEAR(model.seconds(0, 0, 0.75, false), 0.03, 1e-3);
  EXPECT_NEAR(model.seconds(1, 0.75, 1, false), 0.03, 1e-3);
  EXPECT_LT(model.deviation(1, 0.75, 1, false), 0.05);
}

TEST(CostModel, whatIsUncertainInBothAlikeDoesNotMakeTheirRatioUncertain) {
  const CostModel model = two(0.1);
  EXPECT_GT(model.deviation(0, 0, 0.5, false), 4);
  EXPECT_LT(model.deviationOfRatio({0, 0, 0.5, false}, {1, 0, 0.5, false}), 0.2);
}

TEST(CostModel, devicesAlikeThatDifferHaveHeavierGroupsRatherThanOtherSpeeds) {
  CostModel alike = two(0.1), unlike = two(2);
  for (CostModel* model : {&alike, &unlike})
    model->learn(std::vector<Timing>{{0, 0, 0.5, 0.01}, {1, 0.5, 1, 0.03}});
  // The heavier half, on the device that had the lighter one.
  EXPECT_GT(alike.seconds(0, 0.5, 1, false), 0.018);
  EXPECT_LT(unlike.seconds(0, 0.5, 1, false), 0.018);
}

TEST(CostModel, oneTimingFarOffChangesLittleTwoChangeIt) {
  CostModel model = two();
  const std::vector<Timing> usual = {{0, 0, 0.5, 0.01}, {1, 0.5, 1, 0.01}};
  for (int i = 0; i < 20; ++i)
    model.learn(usual);
  const std::vector<Timing> slow = {{0, 0, 0.5, 0.01}, {1, 0.5, 1, 0.1}};
  model.learn(slow);
  EXPECT_LT(model.seconds(1, 0.5, 1, false), 0.012);
  model.learn(slow);
  model.learn(slow);
  EXPECT_GT(model.seconds(1, 0.5, 1, false), 0.05);
}

TEST(CostModel, aFirstTimingIsBelievedToAFactorOnly) {
  CostModel model = two(0.1);
  for (int i = 0; i < 5; ++i)
    model.learn(std::vector<Timing>{{0, 0, 1, 0.02}});
  model.learn(std::vector<Timing>{{1, 0, 1, 0.2, false, true}}); // it compiled
  EXPECT_LT(model.seconds(1, 0, 1, false), 0.03);
}

TEST(CostModel, smallPiecesSayLittleOfOthers) {
  CostModel small = two(), large = two();
  small.learn(std::vector<Timing>{{1, 0.5, 0.501, 1e-3}});
  large.learn(std::vector<Timing>{{1, 0, 1, 1}});
  EXPECT_GT(small.deviation(1, 0, 1, false), 2 * large.deviation(1, 0, 1, false));
}

TEST(CostModel, absurdTimingsChangeNothing) {
  CostModel model = two();
  const double before = model.seconds(1, 0, 1, false);
  for (const double absurd : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    model.learn(std::vector<Timing>{{0, 0, 0.5, absurd}, {1, 0.5, 1, absurd}, {7, 0, 1, 1}});
  EXPECT_EQ(model.seconds(1, 0, 1, false), before);
}

TEST(CostModel, whatItDoesNotSeeGetsLessCertainButNeverLessThanAtFirst) {
  CostModel model = two();
  for (int i = 0; i < 10; ++i)
    model.learn(std::vector<Timing>{{0, 0, 0.5, 0.01}, {1, 0.5, 1, 0.01}});
  const double known = model.deviation(1, 0.5, 1, false);
  model.age(100);
  EXPECT_GT(model.deviation(1, 0.5, 1, false), known);
  model.age(1e9);
  EXPECT_LE(model.deviation(1, 0.5, 1, false), two().deviation(1, 0.5, 1, false) + 1e-6);
}

TEST(CostModel, isAsSureAsItIsRight) {
  // Of what it says to be likely (two deviations), nine in ten are.
  int inside = 0, all = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    const double speed = std::exp(normal(random));
    CostModel model = two();
    for (int i = 0; i < 6; ++i) {
      const double cut = 0.3 + 0.05 * i;
      model.learn(std::vector<Timing>{
          {0, 0, cut, 0.1 * cut * std::exp(0.03 * normal(random))},
          {1, cut, 1, 0.1 / speed * (1 - cut) * std::exp(0.03 * normal(random))}});
    }
    const double off = std::log(0.1 / speed * 0.5 / model.seconds(1, 0.5, 1, false));
    inside += std::abs(off) < 2 * model.deviation(1, 0.5, 1, false);
    ++all;
  }
  EXPECT_GE(inside, all * 9 / 10);
}

} // namespace
} // namespace libsplit::simulator
