#include "runtime/cost/share_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

namespace libsplit::runtime {
namespace {

using Action = ShareController::Action;

ShareController::Setup setup(const std::string& policy, std::vector<double> speeds = {1, 1}) {
  ShareController::Setup made;
  made.policy = *parsePolicy(policy);
  made.speeds = std::move(speeds);
  made.home = 0;
  made.minLaunchSeconds = 1e-3;
  return made;
}

/// Two devices that take `seconds[i]` per group, over 100 groups.
void run(ShareController& controller, std::span<const double> shares,
         std::vector<double> perGroup) {
  auto groups = solver::roundToGroups(shares, 100);
  std::vector<solver::DeviceSample> samples;
  std::uint64_t begin = 0;
  double wall = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    double seconds = static_cast<double>(groups[i]) * perGroup[i];
    samples.push_back({begin, begin + groups[i], seconds});
    begin += groups[i];
    wall = std::max(wall, seconds);
  }
  controller.observeSplit(samples, 100, wall);
}

/// So many launches as `controller` asks for them, of 100 groups, which take 1 s at home; what is
/// split is `visit`'s, to be reported.
template <class Visit>
void forEachSplit(ShareController& controller, int launches, const Visit& visit) {
  for (int launch = 0; launch < launches; ++launch) {
    const Action action = controller.next().action;
    if (action == Action::Measure)
      controller.observeHome(1, 100);
    if (action == Action::Split)
      visit(launch);
  }
}

/// A launch as `controller` asks for it, of 100 groups that take 10 ms each on two devices alike.
/// What passes until the next one takes so many seconds. Whether it was split.
bool launchWithRests(ShareController& controller, double atHome, double split) {
  const auto decision = controller.next();
  const bool isSplit = decision.action == Action::Split;
  if (isSplit)
    run(controller, std::vector(decision.shares.begin(), decision.shares.end()), {0.01, 0.01});
  else if (decision.action == Action::Measure)
    controller.observeHome(1.0);
  controller.passed(isSplit, isSplit ? split : atHome);
  return isSplit;
}

int splitsWithRests(double atHome, double split) {
  ShareController controller(setup("auto"));
  int splits = 0;
  for (int i = 0; i < 100; ++i)
    splits += launchWithRests(controller, atHome, split);
  return splits;
}

TEST(ShareController, AutoCountsWhatPassesAfterSplitLaunches) {
  EXPECT_LE(splitsWithRests(0.1, 0.9), 25) << "though what is read afterwards eats up the gain";
  EXPECT_GE(splitsWithRests(0.9, 0.9), 80) << "the program's own work";
}

TEST(ShareController, OffIsNative) {
  ShareController controller(setup("off"));
  EXPECT_EQ(controller.next().action, Action::Native);
}

TEST(ShareController, StaticSharesLeaveOutDevicesThatCantRunTheKernel) {
  ShareController controller(setup("static:0.5,0.25,0.25", {1, 0, 1}));
  auto decision = controller.next();
  ASSERT_EQ(decision.action, Action::Split);
  EXPECT_NEAR(decision.shares[0], 2.0 / 3, 1e-12);
  EXPECT_EQ(decision.shares[1], 0);
}

TEST(ShareController, HearsOfLaunchesThatWereSplitBeforeADeviceWasLeftOut) {
  ShareController controller(setup("single:1", {1, 0}));
  EXPECT_EQ(controller.next().action, Action::Native);
  controller.passUntimed(1.0);
  run(controller, std::vector<double>{0, 1}, {0.01, 0.01});
  EXPECT_EQ(controller.next().action, Action::Native);
}

TEST(ShareController, SingleGivesOneDeviceEverything) {
  ShareController controller(setup("single:1"));
  auto decision = controller.next();
  ASSERT_EQ(decision.action, Action::Split);
  EXPECT_EQ(decision.shares[1], 1);
  EXPECT_EQ(ShareController(setup("single:7")).next().action, Action::Native);
}

TEST(ShareController, HearsOfLaunchesThatWereSplitBeforeItsOnlyDeviceWasLeftOut) {
  ShareController controller(setup("single:1", {1, 0}));
  run(controller, std::vector<double>{0, 1}, {1e-3, 1e-3});
  EXPECT_EQ(controller.next().action, Action::Native);
}

TEST(ShareController, AutoGivesNothingOutInChunksThatIsKnownToBeShort) {
  auto timed = setup("auto");
  timed.timedAtHome = 2e-3;
  EXPECT_EQ(ShareController(timed).next(/*canChunk=*/true).action, Action::Chunks);
  timed.timedAtHome = 0.5e-3;
  EXPECT_EQ(ShareController(timed).next(/*canChunk=*/true).action, Action::Measure);

  auto remembered = setup("auto");
  remembered.prior.from = ShareController::Prior::From::SameLaunch;
  remembered.prior.speeds = {1, 1};
  remembered.prior.homeSeconds = 0.5e-3;
  EXPECT_EQ(ShareController(remembered).next(/*canChunk=*/true).action, Action::Measure);
  // Of another launch's length little is known.
  remembered.prior.from = ShareController::Prior::From::OtherLaunches;
  EXPECT_EQ(ShareController(remembered).next(/*canChunk=*/true).action, Action::Chunks);
}

TEST(ShareController, AutoGivesNothingOutInChunksThatHomeWouldDoAlone) {
  auto known = setup("auto");
  known.minChunkedSeconds = 8e-3;
  known.timedAtHome = 7e-3;
  EXPECT_EQ(ShareController(known).next(/*canChunk=*/true).action, Action::Measure);
  known.timedAtHome = 9e-3;
  EXPECT_EQ(ShareController(known).next(/*canChunk=*/true).action, Action::Chunks);

  auto like = setup("auto");
  like.minChunkedSeconds = 8e-3;
  like.prior.from = ShareController::Prior::From::OtherLaunches;
  like.prior.speeds = {1, 0};
  like.prior.homeSeconds = 1e-3;
  EXPECT_EQ(ShareController(like).next(/*canChunk=*/true).action, Action::Measure);
  like.prior.homeSeconds = 3e-3; // or four times as long
  EXPECT_EQ(ShareController(like).next(/*canChunk=*/true).action, Action::Chunks);
}

// A program that launches it once in each run.
TEST(ShareController, AutoBeginsWithWhatEarlierRunsMeasuredAtHome) {
  ShareController::Setup once = setup("auto");
  once.prior.from = ShareController::Prior::From::SameLaunch;
  once.prior.speeds = {1, 0};
  once.prior.homeSeconds = 2;
  EXPECT_EQ(ShareController(once).next(/*canChunk=*/true).action, Action::Chunks);
  ShareController second(once);
  const auto careful = second.next();
  ASSERT_EQ(careful.action, Action::Split);
  EXPECT_GT(careful.shares[1], 0);
  EXPECT_LT(careful.shares[1], 0.3);
  once.prior.speeds = {1, 1}; // by the run after
  ShareController third(once);
  EXPECT_NEAR(third.next().shares[1], 0.5, 0.1);
  once.prior.gain = 0.8; // some run told
  EXPECT_EQ(ShareController(once).next().action, Action::Measure);
}

TEST(ShareController, AutoMeasuresHomeFirstAndLeavesShortLaunchesThere) {
  ShareController controller(setup("auto"));
  EXPECT_EQ(controller.next().action, Action::Measure);
  controller.observeHome(1e-4);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(controller.next().action, Action::Native);
}

TEST(ShareController, AutoLooksAgainAtShortLaunchesNowAndThen) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(1e-4);
  int looks = 0;
  for (int i = 0; i < 1000; ++i)
    if (controller.next().action == Action::Measure) {
      ++looks;
      controller.observeHome(1e-4);
    }
  EXPECT_GE(looks, 10); // long ones may be among them
  EXPECT_LE(looks, 20);
}

TEST(ShareController, AutoBeginsCautiouslyAndConverges) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(1.0);
  auto first = controller.next();
  ASSERT_EQ(first.action, Action::Split);
  EXPECT_LT(first.shares[1], 0.2);
  EXPECT_GT(first.shares[1], 0);
  std::vector<double> perGroup = {0.01, 0.03};
  run(controller, first.shares, perGroup);
  for (int i = 0; i < 4; ++i) {
    auto next = controller.next();
    if (next.action == Action::Measure) // home alone is given a trial
      controller.observeHome(1.0, 100);
    else
      run(controller, next.shares, perGroup);
  }
  EXPECT_NEAR(controller.next().shares[0], 0.75, 0.02);
}

/// Of two devices that seem alike; a launch takes 1 s at home, and this at each of 100 groups.
double expectedOfTheOther(std::vector<double> perGroup) {
  ShareController::Setup made = setup("auto");
  made.likeHome = {true, true};
  ShareController controller(std::move(made));
  controller.next();
  controller.observeHome(1.0, 100);
  run(controller, std::vector{0.5, 0.5}, std::move(perGroup));
  return controller.expectedSpeeds()[1];
}

TEST(ShareController, ADeviceThatSeemsToBeLikeHomeIsUnlessItIsFarSlower) {
  EXPECT_EQ(expectedOfTheOther({0.01, 0.01}), 1);
  EXPECT_EQ(expectedOfTheOther({0.002, 0.018}), 1) << "what takes long lies in its part";
  EXPECT_LT(expectedOfTheOther({0.01, 1.0}), 0.02);
  EXPECT_EQ(expectedOfTheOther({0.01, 0.03}), 1) << "it may have been held up";
}

/// Lets `controller` split until it asks for something else.
Action splitAsSlowAs(ShareController& controller, double wall, int atMost) {
  for (int i = 0; i < atMost; ++i) {
    auto decision = controller.next();
    if (decision.action != Action::Split)
      return decision.action;
    std::vector<solver::DeviceSample> samples = {{0, 50, 0.9 * wall}, {50, 100, 0.9 * wall}};
    controller.observeSplit(samples, 100, wall);
  }
  return Action::Split;
}

TEST(ShareController, AutoGoesHomeWhenSplittingIsSlower) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(1.0);
  EXPECT_EQ(splitAsSlowAs(controller, 1.5, 20), Action::Measure);
  controller.observeHome(1.0);
  EXPECT_EQ(controller.next().action, Action::Measure);
  controller.observeHome(1.0);
  for (int i = 0; i < 15; ++i)
    EXPECT_EQ(controller.next().action, Action::Native) << i;
}

/// How many of twenty launches are split that take 1 s at home, for which the program waits for
/// `waitedAtHome` (0: not known), and `split` seconds split.
int splitsOfTwenty(double waitedAtHome, bool areWaitedFor, double split) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(1.0, 100, waitedAtHome);
  int splits = 0;
  for (int i = 0; i < 20; ++i) {
    const auto decision = controller.next();
    if (decision.action == Action::Measure)
      controller.observeHome(1.0, 100, waitedAtHome);
    if (decision.action != Action::Split)
      continue;
    ++splits;
    const solver::DeviceSample samples[] = {{0, 50, 0.6}, {50, 100, 0.6}};
    controller.observeSplit(samples, 100, split, {.isWaitedFor = areWaitedFor});
  }
  return splits;
}

TEST(ShareController, AutoIsNotJudgedByLaunchesOfWhichNobodyKnowsWhatTheyTook) {
  for (const bool isTelling : {false, true}) {
    ShareController controller(setup("auto"));
    controller.next();
    controller.observeHome(1.0, 100);
    unsigned splits = 0;
    for (int i = 0; i < 20; ++i)
      if (controller.next().action == Action::Split) {
        ++splits;
        const solver::DeviceSample samples[] = {{0, 50, 0.6}, {50, 100, 0.6}};
        controller.observeSplit(samples, 100, 9.0, {.isTelling = isTelling});
      }
    if (isTelling)
      EXPECT_LT(splits, 20u);
    else
      EXPECT_EQ(splits, 20u);
  }
}

TEST(ShareController, AutoComparesWhatTheProgramWaitsFor) {
  EXPECT_EQ(splitsOfTwenty(1.5, true, 1.2), 20) << "home takes 1.5 s, too";
  EXPECT_LT(splitsOfTwenty(0, true, 1.2), 10) << "it is not known to";
  EXPECT_LT(splitsOfTwenty(1.5, false, 1.2), 10) << "nobody waits, for either of them";
  EXPECT_EQ(splitsOfTwenty(1.5, false, 0.8), 20);
}

TEST(ShareController, FollowsWhereLaunchesGetFaster) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(100e-3);
  controller.changeHome(0.1);
  EXPECT_NEAR(controller.homeSeconds(), 10e-3, 1e-12);
  const std::size_t both[] = {0, 1};
  controller.changePieces(both, 0.1);
  EXPECT_NEAR(controller.homeSeconds(), 10e-3, 1e-12);
}

/// So many launches that would take two devices 120 and 80 ms alone, of which the solver learns
/// from one in `learnsFromOneIn`. The share of the first device then.
double shareAfter(int launches, int learnsFromOneIn) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(100e-3);
  double share = 0;
  for (int i = 0; i < launches; ++i) {
    const auto decision = controller.next();
    if (decision.action != Action::Split)
      continue;
    share = decision.shares[0];
    const double first = share * 120e-3, second = (1 - share) * 80e-3;
    const auto groups = static_cast<std::uint64_t>(std::lround(100 * share));
    const solver::DeviceSample samples[] = {{0, groups, first}, {groups, 100, second}};
    controller.observeSplit(samples, 100, std::max(first, second),
                            {.mayLearn = i % learnsFromOneIn == 0});
  }
  return share;
}

TEST(ShareController, AutoFindsTheSharesByFewOfTheLaunchesToo) {
  EXPECT_NEAR(shareAfter(20, 1), 0.4, 0.02);
  EXPECT_NEAR(shareAfter(200, 10), 0.4, 0.02);
}

/// Whether `controller` learns from a launch of 1,000 groups, so many on the first device, though
/// it has no time to.
bool learns(ShareController& controller, std::uint64_t groups, bool isProposed = true) {
  const double part = static_cast<double>(groups) / 1000;
  const solver::DeviceSample samples[] = {{0, groups, part}, {groups, 1000, 1 - part}};
  return controller.observeSplit(samples, 1000, std::max(part, 1 - part),
                                 {.mayLearn = false, .isProposed = isProposed});
}

TEST(ShareController, AutoLearnsFromALaunchWithOtherSharesInAnyCase) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(1.0);
  for (int i = 0; i < 16; ++i)
    EXPECT_TRUE(learns(controller, 500)) << "the first ones tell most";
  EXPECT_FALSE(learns(controller, 500));
  EXPECT_FALSE(learns(controller, 501)) << "which is what readings differ by";
  EXPECT_TRUE(learns(controller, 540));
  EXPECT_FALSE(learns(controller, 550));
  EXPECT_TRUE(learns(controller, 1000));
  EXPECT_TRUE(learns(controller, 999)) << "a device is tried";
  EXPECT_FALSE(learns(controller, 999));
  ShareController fixedPoint(setup("fixed-point"));
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(learns(fixedPoint, 500)) << "as it is published";
}

TEST(ShareController, AutoLearnsNothingOfATrialFromLaunchesThatAreNone) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(1.0);
  const solver::DeviceSample halves[] = {{0, 500, 0.5}, {500, 1000, 0.5}};
  for (int i = 0; i < 16 || (i < 1000 && !controller.wantsTimes()); ++i)
    controller.observeSplit(halves, 1000, 0.5);
  ASSERT_TRUE(controller.wantsTimes()) << "one device alone is to be tried";
  EXPECT_TRUE(learns(controller, 500));
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(learns(controller, 500, false)) << "a cycle has its own shares";
}

TEST(ShareController, AutoLooksTwiceBeforeALaunchIsTooShort) {
  // The first one was behind native ones, and did not tell how long the program waits.
  auto made = setup("auto");
  made.tellsWaits = true;
  ShareController controller(made), shorter(made);
  for (ShareController* each : {&controller, &shorter}) {
    each->next();
    each->observeHome(0.9e-3);
    EXPECT_EQ(each->next().action, Action::Measure);
  }
  controller.observeHome(0.9e-3, 100, 1.5e-3);
  EXPECT_EQ(controller.next().action, Action::Split);
  shorter.observeHome(0.9e-3);
  EXPECT_EQ(shorter.next().action, Action::Native);
}

TEST(ShareController, OneLongWaitSaysNothing) {
  ShareController controller(setup("auto"));
  controller.next();
  for (const double waited : {1.1, 7.0, 1.1})
    controller.observeHome(1.0, 100, waited);
  EXPECT_NEAR(controller.homeSeconds(), 1.1, 1e-9);
}

/// What becomes of launches that take 10 ms at home and, split, so many by turns: s split, h home.
std::string decisions(std::initializer_list<double> splitMilliseconds) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(10e-3);
  std::string made;
  for (const double milliseconds : splitMilliseconds) {
    if (controller.next().action != Action::Split) {
      made += 'h';
      controller.observeHome(10e-3, 100);
      continue;
    }
    made += 's';
    const double seconds = milliseconds * 1e-3;
    const solver::DeviceSample samples[] = {{0, 50, seconds}, {50, 100, seconds}};
    controller.observeSplit(samples, 100, seconds);
  }
  return made;
}

TEST(ShareController, OneLaunchThatTheSystemHeldUpSendsNoneHome) {
  EXPECT_EQ(decisions({6, 6, 6, 6, 6, 60, 6, 6, 6, 6, 6, 6}), "ssssssssssss");
}

TEST(ShareController, WhatStillGetsFasterIsNotJudgedYet) {
  EXPECT_TRUE(
      decisions({14, 12, 10.8, 10.3, 10.2, 10.1, 9, 8, 7, 7, 7, 7, 7}).ends_with("sssssss"));
}

TEST(ShareController, WhatIsSurelyALittleSlowerGoesHome) {
  const std::string made =
      decisions({10.6, 10.5, 10.7, 10.6, 10.5, 10.6, 10.5, 10.5, 10.5, 10.5, 10.5, 10.5});
  EXPECT_TRUE(made.ends_with("hhhh")) << made;
}

/// Of 600 launches of 100 groups under one key, whose loads differ 30 times over, the part that is
/// split. Split they take so many times what they do at home.
double partSplitOfUneven(double factor, unsigned seed) {
  ShareController controller(setup("auto"));
  int splits = 0;
  std::minstd_rand loads(seed);
  for (int i = 0; i < 600; ++i) {
    const double load = i == 0 ? 30 : 1 + static_cast<double>(loads() % 30);
    const double atHome = 10e-3 * load;
    const Action action = controller.next().action;
    if (action == Action::Measure)
      controller.observeHome(atHome, 100);
    if (action != Action::Split)
      continue;
    ++splits;
    const double seconds = factor * atHome;
    const solver::DeviceSample samples[] = {{0, 50, seconds}, {50, 100, seconds}};
    controller.observeSplit(samples, 100, seconds);
  }
  return splits / 600.0;
}

TEST(ShareController, OneReadingOfHomeDoesNotDecideWhereLoadsDiffer) {
  const auto partSplit = [](double factor) {
    double sum = 0;
    for (unsigned seed = 1; seed <= 20; ++seed)
      sum += partSplitOfUneven(factor, seed);
    return sum / 20;
  };
  EXPECT_LT(partSplit(1.4), 0.3);
  EXPECT_GT(partSplit(0.7), 0.8);
}

TEST(ShareController, WhatIsOnItsWayDoesNotKeepHomeFromBeingHeard) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(10e-3, 100);
  const solver::DeviceSample samples[] = {{0, 50, 5e-3}, {50, 100, 5e-3}};
  int splits = 0;
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<Action> underWay;
    for (int i = 0; i < 20; ++i)
      underWay.push_back(controller.next().action);
    for (const Action action : underWay)
      if (action == Action::Split)
        controller.observeSplit(samples, 100, 15e-3); // for they wait for each other
      else if (action == Action::Measure)
        controller.observeHome(10e-3, 100);
    splits += static_cast<int>(std::ranges::count(underWay, Action::Split));
  }
  EXPECT_LT(splits, 150);
}

TEST(ShareController, WhatWasOnItsWayWhenARestBeganDecidesNothing) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(10e-3, 100);
  const solver::DeviceSample samples[] = {{0, 50, 5e-3}, {50, 100, 5e-3}};
  while (controller.next().action == Action::Split)
    controller.observeSplit(samples, 100, 15e-3);
  controller.observeHome(10e-3, 100);
  EXPECT_EQ(controller.next().action, Action::Measure);
  controller.observeHome(10e-3, 100);
  int rest = 0;
  for (; controller.next().action == Action::Native; ++rest)
    controller.observeSplit(samples, 100, 15e-3);
  EXPECT_GE(rest, 15);
  controller.observeHome(10e-3, 100);
  EXPECT_EQ(controller.next().action, Action::Split);
}

TEST(ShareController, NothingIsTriedThatCanNotBeAfforded) {
  ShareController fresh(setup("auto"));
  EXPECT_EQ(fresh.next(false, false).action, Action::Native);
  EXPECT_EQ(fresh.next().action, Action::Measure);

  ShareController resting(setup("auto"));
  resting.next();
  resting.observeHome(0.1e-3); // too short
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(resting.next(false, false).action, Action::Native) << i;
  resting.next();
  EXPECT_EQ(resting.next().action, Action::Measure);

  ShareController gaining(setup("auto"));
  gaining.next();
  gaining.observeHome(10e-3, 100);
  EXPECT_EQ(splitAsSlowAs(gaining, 6e-3, 20), Action::Split);
  EXPECT_EQ(gaining.next(false, false).action, Action::Split) << "which is no trial any more";
}

TEST(ShareController, TheFirstMoveWaitsUntilTheLaunchesSoFarAreWorthIt) {
  ShareController::Setup made = setup("auto");
  made.movingSeconds = 2000; // of all data: twenty launches for each of a hundred groups
  ShareController controller(std::move(made));
  int launches = 1;
  controller.next();
  controller.observeHome(1.0, 100);
  for (; launches < 100; ++launches) {
    const ShareController::Decision decision = controller.next();
    if (decision.action == Action::Split && solver::roundToGroups(decision.shares, 100)[1] > 0)
      break;
    controller.observeHome(1.0, 100);
  }
  EXPECT_GE(launches, 8);
  EXPECT_LE(launches, 25);
}

TEST(ShareController, WhatNewSharesMoveOnceIsNotHeldAgainstThem) {
  // Two like devices; a group that changes hands costs forty times its computing.
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(1.0);
  double before = 0;
  int away = 0;
  for (int i = 0; i < 200; ++i) {
    const ShareController::Decision decision = controller.next();
    if (decision.action != Action::Split) {
      ++away;
      if (decision.action == Action::Measure)
        controller.observeHome(1.0, 100);
      before = 0;
      continue;
    }
    const auto groups = solver::roundToGroups(decision.shares, 100);
    const double moving = 0.4 * std::max(0.0, static_cast<double>(groups[1]) - before);
    before = static_cast<double>(groups[1]);
    const double mine = 0.01 * static_cast<double>(groups[0]);
    const double other = 0.01 * before + moving;
    controller.observeSplit({{{0, groups[0], mine}, {groups[0], 100, other, moving}}}, 100,
                            std::max(mine, other));
  }
  EXPECT_NEAR(before, 50, 3);
  EXPECT_LE(away, 3) << "once for the trial of home";
}

TEST(ShareController, MovingThatNeverEndsIsNotPutUpWithForLong) {
  // Each split would be fast, were it not for what it moves, again and again with other shares.
  ShareController controller(setup("auto"));
  double lost = 0;
  forEachSplit(controller, 100, [&](int launch) {
    const auto half = static_cast<std::uint64_t>(40 + 10 * (launch % 2));
    const solver::DeviceSample samples[] = {{0, half, 3.5, 3}, {half, 100, 3.5, 3}};
    controller.observeSplit(samples, 100, 3.5);
    lost += 2.5;
  });
  EXPECT_LE(lost, 25);
}

// Two devices that hinder each other: 1 s at home, 5 s split, of which nothing is moving.
TEST(ShareController, WhatTakesFarLongerSplitIsGivenUpAfterTwoAndTriedRarely) {
  ShareController controller(setup("auto"));
  std::vector<int> splits;
  forEachSplit(controller, 700, [&](int launch) {
    splits.push_back(launch);
    const solver::DeviceSample samples[] = {{0, 50, 5}, {50, 100, 5}};
    controller.observeSplit(samples, 100, 5);
  });
  ASSERT_GE(splits.size(), 3) << "the machine may have changed";
  EXPECT_LE(splits.size(), 6);
  EXPECT_EQ(splits[1], splits[0] + 1);
  EXPECT_GT(splits[2], splits[1] + 200) << "so many launches make up for two that lost 8 s";
}

TEST(ShareController, AutoGoesOnSplittingWhereHomeHasBecomeSlowToo) {
  ShareController controller(setup("auto"));
  controller.next();
  controller.observeHome(1.0);
  EXPECT_EQ(splitAsSlowAs(controller, 1.5, 20), Action::Measure); // the machine is busy now
  controller.observeHome(2.5);
  EXPECT_EQ(controller.next().action, Action::Measure);
  controller.observeHome(2.5);
  EXPECT_EQ(splitAsSlowAs(controller, 1.5, 50), Action::Split);
}

TEST(ShareController, ADeviceThatIsNoUseIsLeftAloneNativelyAndProbedNowAndThen) {
  ShareController controller(setup("auto"));
  int native = 0, split = 0, probes = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto decision = controller.next();
    const auto groups = decision.action == Action::Split
                            ? solver::roundToGroups(decision.shares, 100)
                            : std::vector<std::uint64_t>{100, 0};
    if (decision.action == Action::Native) {
      ++native;
    } else if (groups[1] == 0) {
      controller.observeHome(1.0, 100);
    } else {
      ++split;
      probes += groups[1] == 1;
      run(controller, decision.shares, {0.01, 1.5});
    }
  }
  EXPECT_GT(native, 1900);
  EXPECT_GT(probes, 0);
  EXPECT_LT(split, 30);
}

TEST(ShareController, WhatASlowDeviceCostsWhenItIsTriedIsNotHeldAgainstSplitting) {
  // Two like devices, and one that takes three times as long for a group as home for all of them.
  ShareController controller(setup("auto", {1, 1, 0.01}));
  int tried = 0, away = 0;
  for (int launch = 0; launch < 60; ++launch) {
    const auto decision = controller.next();
    if (decision.action == Action::Split) {
      tried += solver::roundToGroups(decision.shares, 100)[2] > 0;
      run(controller, decision.shares, {0.01, 0.01, 3});
    } else {
      away += launch > 0;
      if (decision.action == Action::Measure)
        controller.observeHome(1, 100);
    }
  }
  EXPECT_GE(tried, 1);
  EXPECT_LE(away, 2) << "for the trial of home";
}

TEST(ShareController, DevicesThatSlowEachOtherDownCostTwoPercentAtMost) {
  // Alone either takes 1 s; together each is 2.6 times as slow, so that a split takes 1.3 s.
  ShareController controller(setup("auto"));
  double sum = 0;
  int counted = 0;
  for (int launch = 1; launch <= 300; ++launch) {
    const auto decision = controller.next();
    double seconds = 1;
    if (decision.action == Action::Measure) {
      controller.observeHome(1, 100);
    } else if (decision.action == Action::Split) {
      const auto groups = solver::roundToGroups(decision.shares, 100);
      seconds = 0.026 * static_cast<double>(*std::max_element(groups.begin(), groups.end()));
      run(controller, decision.shares, {0.026, 0.026});
    }
    if (launch > 5) {
      sum += seconds;
      ++counted;
    }
  }
  EXPECT_LE(sum / counted, 1.02);
}

ShareController::Setup known(ShareController::Prior::From from, double homeSeconds, double gain) {
  auto made = setup("auto");
  made.prior = {from, {300, 100}, homeSeconds, gain, {}};
  return made;
}

TEST(ShareController, AutoSplitsTheFirstLaunchWhereItsLikeGained) {
  using From = ShareController::Prior::From;
  for (From from : {From::SameLaunch, From::OtherLaunches}) {
    ShareController controller(known(from, 0.1, 1.5));
    auto decision = controller.next();
    ASSERT_EQ(decision.action, Action::Split);
    EXPECT_NEAR(decision.shares[0], 0.75, 1e-9);
  }
  EXPECT_EQ(ShareController(known(From::SameLaunch, 0.1, 0.9)).next().action, Action::Measure);
  EXPECT_EQ(ShareController(known(From::SameLaunch, 1e-4, 1.5)).next().action, Action::Measure);
  EXPECT_EQ(ShareController(known(From::OtherKernels, 0, 0)).next().action, Action::Measure);
}

TEST(ShareController, WhatAnEarlierRunFoundSlowerIsTriedOnceThatIsASmallPartOfAllLaunches) {
  using From = ShareController::Prior::From;
  double waited = 0;
  for (const double gain : {0.97, 0.5}) {
    ShareController controller(known(From::SameLaunch, 0.1, gain));
    int atHome = 0;
    for (Action action; (action = controller.next(true).action) != Action::Split; ++atHome) {
      ASSERT_NE(action, Action::Chunks);
      ASSERT_LT(atHome, 10'000);
      if (action == Action::Measure)
        controller.observeHome(0.1);
    }
    EXPECT_GT(atHome, waited); // the more, the slower it was
    EXPECT_LE(1 / gain - 1, 0.01 * atHome);
    waited = atHome;
  }
}

TEST(ShareController, AutoGivesOutALaunchOfWhichNothingIsKnownInChunks) {
  ShareController controller(setup("auto"));
  auto decision = controller.next(true);
  ASSERT_EQ(decision.action, Action::Chunks);
  const std::vector<solver::ChunkSample> chunks = {{0, 0, 60, 0.6}, {1, 60, 100, 0.8}};
  controller.observeChunks(chunks, 100);
  decision = controller.next(true);
  ASSERT_EQ(decision.action, Action::Split);
  EXPECT_NEAR(decision.shares[0], 2.0 / 3, 0.05);
  EXPECT_NEAR(controller.homeSeconds(), 1.0, 1e-9);
}

TEST(ShareController, HomeIsNotJudgedByWhatOthersInItsWayMadeOfIt) {
  // Home begins by itself, at 1 s for all; beside the other it is four times as slow.
  const std::vector<solver::ChunkSample> chunks = {
      {0, 0, 10, 0.1}, {0, 10, 55, 2.2}, {1, 55, 100, 2.2}};
  ShareController controller(setup("auto"));
  controller.next(true);
  controller.observeChunks(chunks, 100);
  EXPECT_TRUE(controller.homeIsDoubtful());
  unsigned splits = 0;
  for (int i = 0; i < 20; ++i)
    if (controller.next().action == Action::Split) {
      ++splits;
      const solver::DeviceSample samples[] = {{0, 50, 1.5}, {50, 100, 1.5}};
      controller.observeSplit(samples, 100, 1.5);
    } else {
      controller.observeHome(1.0, 100);
    }
  EXPECT_LE(splits, 6u);
  EXPECT_FALSE(controller.homeIsDoubtful());

  // Groups that begin a launch may have somewhat less to do.
  const std::vector<solver::ChunkSample> usual = {
      {0, 0, 10, 0.1}, {0, 10, 55, 0.6}, {1, 55, 100, 0.6}};
  ShareController other(setup("auto"));
  other.next(true);
  other.observeChunks(usual, 100);
  EXPECT_FALSE(other.homeIsDoubtful());
}

TEST(ShareController, WhoCanNotRunTheKernelGetsNothingWhateverIsKnownOfIt) {
  ShareController::Setup made = setup("auto", {1, 0, 1});
  made.prior.from = ShareController::Prior::From::OtherKernels;
  made.prior.speeds = {1, 0.1, 1};
  ShareController controller(std::move(made));
  auto decision = controller.next(true);
  ASSERT_EQ(decision.action, Action::Chunks);
  EXPECT_EQ(decision.shares[1], 0);
  controller.refuseChunks();
  ASSERT_EQ(controller.next(true).action, Action::Measure);
  controller.observeHome(1);
  decision = controller.next(true);
  ASSERT_EQ(decision.action, Action::Split);
  EXPECT_EQ(decision.shares[1], 0);
}

TEST(ShareController, WhoHasOnlyRehearsedBeginsCautiously) {
  ShareController::Setup made = setup("auto");
  made.prior.from = ShareController::Prior::From::SameLaunch;
  made.prior.speeds = {1, 1};
  made.prior.homeSeconds = 1;
  made.hasRehearsed = {false, true};
  ShareController controller(std::move(made));
  const auto decision = controller.next();
  ASSERT_EQ(decision.action, Action::Split);
  EXPECT_NEAR(decision.shares[1], 0.125, 0.01);
}

TEST(ShareController, aRefusedLaunchInChunksIsMeasuredAtHome) {
  ShareController controller(setup("auto"));
  EXPECT_EQ(controller.next(true).action, Action::Chunks);
  controller.refuseChunks();
  EXPECT_EQ(controller.next(true).action, Action::Measure);
}

TEST(ShareController, DynamicGivesOutEveryLaunchInChunks) {
  ShareController controller(setup("dynamic"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(controller.next(true).action, Action::Chunks);
    const std::vector<solver::ChunkSample> chunks = {{0, 0, 60, 0.6}, {1, 60, 100, 0.8}};
    controller.observeChunks(chunks, 100);
  }
  EXPECT_GT(controller.next(true).shares[0], controller.next(true).shares[1]);
  EXPECT_EQ(controller.next(false).action, Action::Split);
}

/// Of 16 groups a device gets none whose share is a fiftieth. What comes of such shares is a launch
/// at home, which is no reason to plan each of thousands.
TEST(ShareController, AutoLeavesLaunchesToTheDriverOfWhichOthersGetNoGroup) {
  constexpr std::uint64_t groups = 16;
  ShareController::Setup made = setup("auto", {1, 1});
  made.groups = groups;
  made.prior.from = ShareController::Prior::From::SameLaunch;
  made.prior.speeds = {100, 2};
  ShareController controller(std::move(made));
  int native = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto decision = controller.next();
    const auto parts = decision.action == Action::Split
                           ? solver::roundToGroups(decision.shares, groups)
                           : std::vector<std::uint64_t>{groups, 0};
    native += decision.action == Action::Native;
    if (parts[1] > 0) {
      const std::vector<solver::DeviceSample> samples = {
          {0, parts[0], 0.01 * static_cast<double>(parts[0])},
          {parts[0], groups, 0.5 * static_cast<double>(parts[1])}};
      controller.observeSplit(samples, groups, samples[1].seconds);
    } else if (decision.action != Action::Native) {
      controller.observeHome(0.16, groups);
    }
  }
  EXPECT_GT(native, 900);
}

/// One group a row: what home did alone was planned as one group of the first dimension, which says
/// nothing of the other one's 8192.
TEST(ShareController, AutoSplitsWhatHasItsGroupsInAnotherDimension) {
  ShareController::Setup made = setup("auto", {1, 1});
  made.groups = 8192;
  ShareController controller(std::move(made));
  int untilSplit = 0;
  while (controller.next().action != Action::Split && ++untilSplit < 100)
    controller.observeHome(0.01, 1);
  EXPECT_LT(untilSplit, 4);
}

} // namespace
} // namespace libsplit::runtime
