#include "runtime/cost/split_cost.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

/// After launches of which the longest piece took 0.5 ms and the whole 0.56 ms, by turns with some
/// at home, if any, that took 1 ms and for which the program waited so long.
SplitCost measured(double waitedAtHome = 0) {
  SplitCost cost;
  for (int i = 0; i < 16; ++i) {
    cost.note(560e-6, 500e-6);
    if (waitedAtHome > 0)
      cost.noteAtHome(waitedAtHome, 1000e-6);
  }
  return cost;
}

TEST(SplitCost, IsAGuessUntilSomeLaunchesTell) {
  SplitCost cost;
  const double guess = cost.seconds();
  EXPECT_GT(guess, 0);
  cost.note(1.5e-3, 0.5e-3);
  EXPECT_DOUBLE_EQ(cost.seconds(), guess);
  EXPECT_EQ(cost.toKeep(), std::nullopt);
  for (int i = 0; i < 3; ++i)
    cost.note(1.5e-3, 0.5e-3);
  EXPECT_DOUBLE_EQ(cost.seconds(), 1e-3);
  EXPECT_EQ(cost.toKeep(), cost.seconds());
}

TEST(SplitCost, LaunchesOfTwiceAsMuchCanGain) {
  const SplitCost cost = measured();
  EXPECT_NEAR(cost.shortestLaunch(), 120e-6, 1e-9);
}

TEST(SplitCost, WhatHomeCostsAnywayIsNoCostOfSplitting) {
  const SplitCost cost = measured(1020e-6);
  EXPECT_NEAR(cost.shortestLaunch(), 100e-6, 1e-9);
  EXPECT_NEAR(cost.seconds(), 60e-6, 1e-9);
  // The next run begins with that, and does not take it off again.
  SplitCost next;
  next.begin(*cost.toKeep());
  EXPECT_NEAR(next.shortestLaunch(), 100e-6, 1e-9);
  for (int i = 0; i < 16; ++i)
    next.noteAtHome(1020e-6, 1000e-6);
  EXPECT_NEAR(next.shortestLaunch(), 100e-6, 1e-9);
}

TEST(SplitCost, LaunchesShorterThanItNeverGain) {
  const SplitCost cost = measured(1080e-6);
  EXPECT_NEAR(cost.shortestLaunch(), 60e-6, 1e-9);
}

TEST(SplitCost, MomentsOfABusyMachineDoNotCount) {
  SplitCost cost;
  for (int i = 0; i < 64; ++i)
    cost.note(i % 2 == 0 ? 560e-6 : 5e-3, 500e-6);
  EXPECT_NEAR(cost.seconds(), 60e-6, 1e-9);
}

TEST(SplitCost, FollowsAMachineThatChanges) {
  SplitCost cost = measured();
  for (int i = 0; i < 16; ++i)
    cost.note(700e-6, 500e-6);
  EXPECT_NEAR(cost.seconds(), 200e-6, 1e-9);
}

TEST(SplitCost, RunsThatMeasureNothingBelieveLessAndLess) {
  const double guess = SplitCost().seconds();
  double known = 1e-3;
  for (int run = 0; run < 20; ++run) {
    SplitCost cost;
    cost.begin(known);
    EXPECT_LT(cost.seconds(), known);
    EXPECT_GE(cost.seconds(), guess);
    if (!cost.toKeep())
      return;
    known = *cost.toKeep();
  }
  FAIL() << "what one run measured on a busy machine is believed for ever";
}

TEST(SplitCost, ALittleIsBelieved) {
  SplitCost cost;
  cost.begin(10e-6);
  EXPECT_DOUBLE_EQ(cost.seconds(), 10e-6);
}

TEST(SplitCost, WhatThisRunMeasuredIsKept) {
  SplitCost cost = measured();
  cost.begin(1e-3);
  EXPECT_NEAR(cost.seconds(), 60e-6, 1e-9);
}

TEST(SplitCost, WhereNobodyWaitsALaunchTakesAsLongAsTheHostIsBusyWithIt) {
  SplitCost cost = measured();
  EXPECT_NEAR(cost.shortestBehind(), 60e-6, 1e-9) << "the host does at most all of that for one";
  for (int i = 0; i < 16; ++i)
    cost.noteBusy(i % 2 == 0 ? 25e-6 : 1e-3);
  EXPECT_NEAR(cost.shortestBehind(), 25e-6, 1e-9);
  EXPECT_NEAR(cost.seconds(), 60e-6, 1e-9) << "of those that are waited for";
}

TEST(SplitCost, ToBeATaskCostsNothingUntilItIsSeenTo) {
  SplitCost cost = measured();
  EXPECT_EQ(cost.asTask(), 0);
  for (int i = 0; i < 16; ++i) {
    cost.noteAsTask(i % 2 == 0 ? 90e-6 : 5e-3, 55e-6);
    cost.noteAsTask(50e-6, 55e-6); // it did not begin when the one before it was over
  }
  EXPECT_NEAR(cost.asTask(), 35e-6, 1e-9);
}

TEST(SplitCost, NothingCostsLessThanNothing) {
  SplitCost cost;
  for (int i = 0; i < 16; ++i)
    cost.note(400e-6, 500e-6);
  EXPECT_EQ(cost.seconds(), 0);
}

} // namespace
} // namespace libsplit::runtime
