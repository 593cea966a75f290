#include "solver/alone_trial.h"

#include "solver/share_solver.h"

#include <gtest/gtest.h>

namespace libsplit::solver {
namespace {

using Way = AloneTrial::Way;
constexpr double tenth = 0.1;

/// Launches take `together` or `alone` seconds; answers how many of `count` one device did alone.
int run(AloneTrial& trial, int count, double together, double alone, double expected,
        double from = 0) {
  int done = 0;
  for (int i = 1; i <= count; ++i) {
    const Way way = trial.way();
    done += way == Way::Alone;
    trial.took(way, way == Way::Alone ? alone : together);
    trial.consider(way == Way::Alone ? together : expected, from + i, tenth);
  }
  return done;
}

TEST(AloneTrial, oneDeviceThatIsFasterAloneGoesOnAlone) {
  AloneTrial trial;
  EXPECT_EQ(run(trial, 5, 8.0, 7.0, 10.7), 0);
  EXPECT_EQ(trial.way(), Way::Alone) << "a third more is worth a trial after five launches";
  EXPECT_EQ(run(trial, 4, 8.0, 7.0, 10.7, 5), 4);
  EXPECT_EQ(trial.seconds(Way::Alone), 7.0);
}

TEST(AloneTrial, aTrialThatIsMuchSlowerEndsAtOnceAndTheNextIsLate) {
  AloneTrial trial;
  EXPECT_EQ(run(trial, 9, 8.0, 10.0, 10.7), 1);
  EXPECT_EQ(run(trial, 90, 8.0, 10.0, 10.7, 9), 2) << "after 20 and 80 launches";
}

TEST(AloneTrial, aVerdictOfABadMomentIsLookedAtAgainSoon) {
  AloneTrial trial;
  run(trial, 2555, 8.0, 16.0, 16.0);
  ASSERT_EQ(trial.way(), Way::Together);
  run(trial, 20, 30.0, 16.0, 16.0, 2555); // somebody else uses the devices for a while
  ASSERT_EQ(trial.way(), Way::Alone) << "or nothing is shown";
  EXPECT_LT(run(trial, 1000, 8.0, 16.0, 16.0, 2575), 40);
  EXPECT_EQ(trial.way(), Way::Together);
}

TEST(AloneTrial, waysThatAreNearlyTheSameAreTriedLonger) {
  AloneTrial trial;
  run(trial, 5, 8.0, 8.4, 10.7);
  EXPECT_EQ(run(trial, longestTrial, 8.0, 8.4, 10.7, 5), longestTrial);
  EXPECT_EQ(trial.way(), Way::Together);
}

TEST(AloneTrial, noMoreLaunchesOfItAreUnderWayThanItNeeds) {
  AloneTrial trial;
  run(trial, 5, 8.0, 20.0, 10.7);
  int begun = 0;
  for (int i = 0; i < 50; ++i) { // the program is far ahead
    const Way way = trial.way();
    trial.begins();
    begun += way == Way::Alone;
  }
  EXPECT_EQ(begun, 3);
  trial.took(Way::Alone, 20.0);
  EXPECT_EQ(trial.way(), Way::Together);
  trial.took(Way::Alone, 20.0);
  EXPECT_EQ(trial.seconds(Way::Alone), 20.0) << "the trial's others say nothing more";
}

TEST(AloneTrial, oneOfWhichNothingIsHeardIsTriedAgain) {
  AloneTrial trial;
  run(trial, 5, 8.0, 7.0, 10.7);
  for (int i = 0; i < 3; ++i)
    trial.begins();
  EXPECT_EQ(trial.way(), Way::Together);
  EXPECT_GT(run(trial, 40, 8.0, 7.0, 10.7, 5), 10);
}

TEST(AloneTrial, noneBeginsWhileLaunchesStillGetFaster) {
  AloneTrial trial;
  int alone = 0;
  for (const double seconds : {14, 12, 11, 10, 9, 8, 7, 6, 5})
    alone += run(trial, 1, seconds, 10.0, 10.0, 20);
  EXPECT_EQ(alone, 0);
}

TEST(AloneTrial, whatGainsNextToNothingTogetherIsDoneAlone) {
  AloneTrial trial;
  run(trial, 5 + longestTrial, 8.0, 8.1, 10.7);
  EXPECT_EQ(trial.way(), Way::Alone);
}

TEST(AloneTrial, whatIsExpectedToCostMuchWaits) {
  AloneTrial trial;
  EXPECT_EQ(run(trial, 99, 1.0, 1.0, 11.0), 0) << "ten launches more, for a trial of one";
  EXPECT_EQ(run(trial, 2, 1.0, 1.0, 11.0, 99), 1);
}

TEST(AloneTrial, whatLaunchesTookWithOtherSharesDoesNotCount) {
  AloneTrial trial;
  for (int i = 1; i <= 40; ++i) {
    trial.sharesChanged();
    EXPECT_EQ(run(trial, 2, 8.0, 7.0, 8.0, 3 * i), 0);
  }
}

TEST(AloneTrial, oneSlowLaunchIsForgivenTwoEndIt) {
  AloneTrial trial;
  run(trial, 9, 8.0, 7.0, 10.7);
  ASSERT_EQ(trial.way(), Way::Alone);
  EXPECT_FALSE(trial.took(Way::Alone, 70));
  EXPECT_FALSE(trial.took(Way::Alone, 7));
  EXPECT_FALSE(trial.took(Way::Alone, 70));
  EXPECT_EQ(trial.way(), Way::Alone);
  EXPECT_TRUE(trial.took(Way::Alone, 70));
  EXPECT_EQ(trial.way(), Way::Together);
}

TEST(AloneTrial, launchesCutBeforeTheWayChangedSayNothingOfIt) {
  AloneTrial trial;
  run(trial, 5, 8.0, 7.0, 10.7);
  ASSERT_EQ(trial.way(), Way::Alone);
  for (int i = 0; i < 10; ++i)
    trial.took(Way::Together, 1.0);
  EXPECT_EQ(trial.way(), Way::Alone);
  EXPECT_EQ(trial.seconds(Way::Together), 8.0);
}

} // namespace
} // namespace libsplit::solver
