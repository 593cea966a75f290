#include "runtime/cost/launch_cycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace libsplit::runtime {
namespace {

constexpr double secondsPerByte = 1e-6;
constexpr std::uint64_t bytes = 1'000'000; // of each buffer

using Mode = LaunchCycle::Mode;
using Shares = std::vector<double>;

/// Two kernels over two buffers on two devices, device 0 home. One kernel is four times as fast on
/// device 0, the other equally fast on both; each needs what the other wrote.
struct Jacobi {
  Shares whole[2] = {{1, 4}, {1, 1}};
  Shares own[2] = {{0.8, 0.2}, {0.5, 0.5}};
  double moveSeconds = secondsPerByte; ///< what moving a byte really costs
  double haloSeconds = 0;              ///< … and what every split launch costs beside
  Shares last[2] = {{1, 0}, {1, 0}};
  Mode modes[2] = {Mode::Free, Mode::Free};
  int buffers[2] = {0, 0};
  bool isKnown = true;
  std::function<bool(std::function<void()>)> beside;
  int timed = 0; ///< launches whose time the cycle wanted
  LaunchCycle cycle;

  /// Seconds of one cycle, as the machine has it.
  double step() {
    double sum = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      LaunchCycle::Passing passing;
      passing.id = k + 1;
      passing.isKnown = isKnown;
      passing.secondsPerByte = secondsPerByte;
      passing.beside = beside;
      passing.own = [&, k] { return std::span<const double>(own[k]); };
      passing.profile = [&, k](solver::LoadProfile& to) {
        to = {{0, 0}, whole[k], {}};
        return true;
      };
      passing.section = [&, k] {
        const ByteSet middle(bytes * 7 / 16, bytes * 9 / 16);
        return std::vector<SectionUse>{{&buffers[k], middle, {}}, {&buffers[1 - k], {}, middle}};
      };
      const LaunchCycle::Ruling ruling = cycle.next(passing);
      modes[k] = ruling.mode;
      const Shares home = {1, 0};
      const Shares shares = ruling.mode == Mode::Split
                                ? Shares(ruling.shares.begin(), ruling.shares.end())
                            : ruling.mode == Mode::Free ? own[k]
                                                        : home;
      last[k] = shares;
      const double gained = shares[0] - last[1 - k][0]; // by device 0 since the last launch
      const double halo = shares[0] < 1 ? haloSeconds : 0;
      const double seconds =
          halo + std::max(whole[k][0] * shares[0] + std::max(0.0, gained) * bytes * moveSeconds,
                          whole[k][1] * shares[1] + std::max(0.0, -gained) * bytes * moveSeconds);
      if (ruling.ticket.phase != 0) {
        timed += cycle.wantsTime(ruling.ticket);
        cycle.took(ruling.ticket, seconds);
      }
      sum += seconds;
    }
    return sum;
  }

  double settle(int cycles = 40) {
    double seconds = 0;
    for (int i = 0; i < cycles; ++i)
      seconds = step();
    return seconds;
  }
};

TEST(LaunchCycle, findsJointSharesThatShortenTheCycle) {
  Jacobi jacobi;
  const double alone = jacobi.step();
  const double seconds = jacobi.settle();
  EXPECT_EQ(jacobi.cycle.length(), 2u);
  EXPECT_TRUE(jacobi.cycle.isJoint());
  EXPECT_LT(std::abs(jacobi.last[0][0] - jacobi.last[1][0]), 0.2);
  EXPECT_LT(seconds, 0.9 * alone);
}

TEST(LaunchCycle, goesOnAsBeforeWhileJointSharesAreWorkedOut) {
  Jacobi jacobi;
  std::function<void()> work;
  jacobi.beside = [&](std::function<void()> given) {
    work = std::move(given);
    return true;
  };
  for (int i = 0; i < 40 && !work; ++i)
    jacobi.step();
  ASSERT_TRUE(work);
  const bool wasJoint = jacobi.cycle.isJoint();
  const Shares before[2] = {jacobi.last[0], jacobi.last[1]};
  for (int i = 0; i < 50; ++i) {
    jacobi.step();
    ASSERT_EQ(jacobi.cycle.isJoint(), wasJoint);
    ASSERT_EQ(jacobi.last[0], before[0]);
    ASSERT_EQ(jacobi.last[1], before[1]);
  }
  work();
  jacobi.settle(2);
  EXPECT_TRUE(jacobi.cycle.isJoint());
  EXPECT_NE(jacobi.last[0], before[0]);
}

TEST(LaunchCycle, doesWithoutJointSharesThatNobodyEndsToWorkOut) {
  Jacobi jacobi;
  jacobi.haloSeconds = 1; // home is faster than all others
  int asked = 0;
  jacobi.beside = [&](const std::function<void()>&) { return ++asked > 0; };
  jacobi.settle(300);
  EXPECT_GT(asked, 0);
  EXPECT_TRUE(jacobi.cycle.isHome());
}

TEST(LaunchCycle, wantsNoTimesOnceItIsSettled) {
  Jacobi jacobi;
  jacobi.settle();
  EXPECT_GE(jacobi.timed, 2 * 3) << "three cycles at least";
  const int before = jacobi.timed;
  jacobi.settle(400);
  EXPECT_LT(jacobi.timed - before, 80) << "it is reviewed now and then";
}

TEST(LaunchCycle, goesBackWhereThePromiseIsNotKept) {
  Jacobi jacobi;
  jacobi.moveSeconds = 0; // moving is hidden behind computing, whatever was thought of it
  int joint = 0;
  for (int i = 0; i < 500; ++i) {
    jacobi.step();
    joint += jacobi.cycle.isJoint();
  }
  EXPECT_GT(joint, 0);
  EXPECT_LT(joint, 50);
}

TEST(LaunchCycle, timesNothingWhileSharesAreStillGrowing) {
  Jacobi jacobi; // as fast on both devices, and shares that take eight cycles to get there
  jacobi.moveSeconds = 20 * secondsPerByte;
  for (Shares& whole : jacobi.whole)
    whole = {1, 1};
  for (int i = 0; i < 60; ++i) {
    const double away = std::min(0.5, 0.1 + 0.05 * i);
    for (Shares& own : jacobi.own)
      own = {1 - away, away};
    jacobi.step();
  }
  EXPECT_TRUE(jacobi.cycle.governs());
  EXPECT_FALSE(jacobi.cycle.isHome());
  EXPECT_EQ(jacobi.last[0], (Shares{0.5, 0.5}));
}

TEST(LaunchCycle, goesHomeAsAWholeWhereNoSplitIsFaster) {
  Jacobi jacobi;
  jacobi.haloSeconds = 1;
  jacobi.settle();
  EXPECT_TRUE(jacobi.cycle.isHome());
  EXPECT_EQ(jacobi.modes[0], Mode::Native);
  EXPECT_EQ(jacobi.modes[1], Mode::Native);
}

TEST(LaunchCycle, looksAtHomeAgainAndAgainButEverMoreRarely) {
  Jacobi jacobi;
  jacobi.haloSeconds = 1;
  int split = 0;
  for (int i = 0; i < 4000; ++i) {
    jacobi.step();
    split += jacobi.modes[0] == Mode::Split;
  }
  EXPECT_GT(split, 10);
  EXPECT_LT(split, 80);
}

TEST(LaunchCycle, aKernelThatIsKnownLaterJoinsWithItsOwnShares) {
  Jacobi jacobi;
  const Shares own = {0.3, 0.7};
  LaunchCycle::Passing third;
  third.id = 3;
  third.secondsPerByte = secondsPerByte;
  third.own = [&] { return std::span<const double>(own); };
  third.profile = [](solver::LoadProfile& to) {
    to = {{0, 0}, {1, 1}, {}};
    return true;
  };
  third.section = [] { return std::vector<SectionUse>(); };
  int split = 0;
  for (int i = 0; i < 500; ++i) {
    jacobi.step();
    third.isKnown = i >= 100;
    const LaunchCycle::Ruling ruling = jacobi.cycle.next(third);
    if (ruling.mode == Mode::Split) {
      EXPECT_EQ(ruling.shares.size(), 2u);
      ++split;
    }
    if (ruling.ticket.phase != 0)
      jacobi.cycle.took(ruling.ticket, 0.7);
  }
  EXPECT_EQ(jacobi.cycle.length(), 3u);
  EXPECT_GT(split, 0);
}

TEST(LaunchCycle, keepsWhatItKnowsThroughOtherLaunchesBetweenCycles) {
  Jacobi jacobi;
  jacobi.settle();
  ASSERT_TRUE(jacobi.cycle.isJoint());
  LaunchCycle::Passing stranger;
  stranger.id = 99;
  EXPECT_EQ(jacobi.cycle.next(stranger).mode, Mode::Free);
  jacobi.step();
  EXPECT_TRUE(jacobi.cycle.isJoint());
  EXPECT_EQ(jacobi.modes[0], Mode::Split);
}

TEST(LaunchCycle, leavesLaunchesAloneThatDoNotRepeatOrStandAlone) {
  LaunchCycle cycle;
  LaunchCycle::Passing passing;
  passing.isKnown = true;
  passing.profile = [](solver::LoadProfile&) -> bool { throw std::logic_error("asked"); };
  for (passing.id = 0; passing.id < 100; ++passing.id)
    EXPECT_EQ(cycle.next(passing).mode, Mode::Free);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(cycle.next(passing).mode, Mode::Free);
}

TEST(LaunchCycle, leavesLaunchesAloneWhereLittleCouldMove) {
  Jacobi jacobi;
  jacobi.whole[0] = {100, 400};
  jacobi.whole[1] = {100, 100};
  jacobi.settle();
  EXPECT_FALSE(jacobi.cycle.governs());
}

TEST(LaunchCycle, leavesLaunchesAloneThatAreNotKnown) {
  Jacobi jacobi;
  jacobi.isKnown = false;
  jacobi.settle();
  EXPECT_FALSE(jacobi.cycle.governs());
}

TEST(LaunchCycle, joinsNothingWhereALoadIsNotKnown) {
  Jacobi jacobi;
  jacobi.whole[1] = {1, std::numeric_limits<double>::infinity()};
  jacobi.settle();
  EXPECT_FALSE(jacobi.cycle.isJoint());
}

/// A Jacobi cycle that is looked ahead at.
struct Foreseen {
  Outlook outlook;
  bool isMade = true;
  std::uint64_t toCome = 1;
  bool isFree = false;
  bool isSplit = false;
  bool isLookedAt = true; ///< else nothing is known of a launch that passes
  double gainBefore = 0;
  std::optional<double> gainOfSecond; ///< nothing: the same
  double homeOfSecond = 1;
  double seconds = 0.3;  ///< of a launch that is split
  bool isLinked = false; ///< each launch needs what the other wrote
  bool canSend = false;  ///< ahead of the first that is split …
  double secondsHeldUp = 0;
  LaunchCycle::Ahead ahead = LaunchCycle::Ahead::Arrived;
  int sent = 0; ///< launches that were to
  int buffers[2] = {0, 0};
  LaunchCycle cycle;
  std::vector<Mode> modes;
  Shares last;

  Foreseen() {
    outlook.homeSeconds = outlook.launchSeconds = 2;
    outlook.seconds = 0.6;
    outlook.onceSeconds = 14; // ten cycles' gain
    outlook.steps.resize(2);
    for (Outlook::Step& step : outlook.steps)
      step.shares = {0.4, 0.6};
  }

  /// What it takes to get there can be sent ahead, but for so many seconds.
  void maySendAllBut(double seconds) {
    canSend = true;
    outlook.restSeconds = seconds;
    for (Outlook::Step& step : outlook.steps)
      step.plan = std::make_shared<const LaunchPlan>();
  }

  void pass(std::uint64_t id) {
    LaunchCycle::Passing passing;
    passing.id = id;
    passing.outlook = [&](std::span<const std::uint64_t> ids) {
      EXPECT_EQ(ids.size(), 2u);
      return isMade ? &outlook : nullptr;
    };
    if (canSend)
      passing.ahead = [&] { return ahead; };
    passing.isFree = isFree;
    passing.isSplit = isSplit;
    passing.isLookedAt = isLookedAt;
    passing.homeSeconds = id == 2 ? homeOfSecond : 1;
    passing.gainBefore = id == 2 ? gainOfSecond.value_or(gainBefore) : gainBefore;
    passing.toCome = toCome;
    passing.isKnown = isLinked && isLookedAt;
    passing.secondsPerByte = secondsPerByte;
    passing.secondsHeldUp = secondsHeldUp;
    const Shares own{0.4, 0.6};
    passing.own = [&] { return std::span<const double>(own); };
    passing.profile = [](solver::LoadProfile& profile) {
      profile = {{0, 0}, {1, 1}, {}};
      return true;
    };
    passing.section = [&] {
      const ByteSet middle(bytes * 7 / 16, bytes * 9 / 16);
      return std::vector<SectionUse>{{&buffers[id % 2], middle, {}},
                                     {&buffers[1 - id % 2], {}, middle}};
    };
    const LaunchCycle::Ruling ruling = cycle.next(passing);
    modes.push_back(ruling.mode);
    sent += ruling.sends != nullptr;
    if (ruling.mode == Mode::Split)
      last.assign(ruling.shares.begin(), ruling.shares.end());
    if (ruling.ticket.phase != 0)
      cycle.took(ruling.ticket, seconds);
  }
  /// A round of ten cycles, for which the program waits then. Seconds of a cycle.
  void passRound(double atHome, double split) {
    for (int i = 0; i < 10; ++i) {
      pass(1);
      pass(2);
    }
    const bool isSplit = modes.back() == Mode::Split;
    // The first launches after a wait take longer than the others, or after a change of shares.
    cycle.roundEnded(10 * (isSplit ? split : atHome), 20);
  }
  /// Cycles until the first that is split, at most `most`.
  int wait(int most) {
    for (int i = 0; i < most; ++i) {
      pass(1);
      pass(2);
      if (modes.back() == Mode::Split)
        return i;
    }
    return most;
  }
};

TEST(LaunchCycle, doesNotSendHomeWhatIsSplitAlready) {
  Foreseen jacobi;
  jacobi.isLinked = jacobi.isSplit = true;
  jacobi.gainBefore = 2;
  jacobi.isMade = false; // to look ahead takes long
  for (int i = 0; i < 300; ++i)
    for (const std::uint64_t id : {1, 2}) {
      jacobi.pass(id);
      EXPECT_TRUE(jacobi.modes.back() == Mode::Free || jacobi.modes.back() == Mode::Split) << i;
    }
  EXPECT_EQ(jacobi.modes.back(), Mode::Split);
}

TEST(LaunchCycle, sendsHomeWhatIsSplitAlreadyIfThatIsSlower) {
  Foreseen jacobi;
  jacobi.isLinked = jacobi.isSplit = true;
  jacobi.gainBefore = 2;
  jacobi.seconds = 1.1;
  for (int i = 0; i < 300; ++i)
    for (const std::uint64_t id : {1, 2})
      jacobi.pass(id);
  EXPECT_EQ(jacobi.modes.back(), Mode::Native);
}

TEST(LaunchCycle, sendsHomeWhatIsSplitAlreadyIfALookAheadSaysSo) {
  Foreseen jacobi; // whose launches found out by themselves
  jacobi.isLinked = jacobi.isSplit = true;
  jacobi.isMade = false;
  for (int i = 0; i < 100; ++i)
    for (const std::uint64_t id : {1, 2}) {
      jacobi.pass(id);
      EXPECT_EQ(jacobi.modes.back(), Mode::Free) << i;
    }
  jacobi.isMade = true;
  jacobi.outlook.seconds = jacobi.outlook.homeSeconds;
  for (int i = 0; i < 10; ++i)
    for (const std::uint64_t id : {1, 2})
      jacobi.pass(id);
  EXPECT_EQ(jacobi.modes.back(), Mode::Waiting);
}

TEST(LaunchCycle, waitsAtHomeUntilMovingPaysAndThenTakesTheForeseenSharesAtOnce) {
  Foreseen jacobi;
  EXPECT_EQ(jacobi.wait(20), 20);
  EXPECT_EQ(jacobi.modes.back(), Mode::Waiting);
  jacobi.toCome = 22; // launches of both kinds
  EXPECT_LT(jacobi.wait(70), 70);
  EXPECT_EQ(jacobi.last, (Shares{0.4, 0.6}));
}

/// Of 14 s to get there 13 can pass beside launches at home; they take seven cycles.
TEST(LaunchCycle, sendsAheadWhatNobodyWritesBeforeItSplits) {
  Foreseen jacobi;
  jacobi.maySendAllBut(1);
  jacobi.toCome = 1;
  EXPECT_EQ(jacobi.wait(6), 6);
  EXPECT_EQ(jacobi.sent, 0) << "too few launches are to come";
  jacobi.toCome = 18;
  jacobi.ahead = LaunchCycle::Ahead::UnderWay;
  EXPECT_EQ(jacobi.wait(20), 20);
  EXPECT_GE(jacobi.sent, 2 * 10);
  EXPECT_EQ(jacobi.modes.back(), Mode::Waiting);
  jacobi.ahead = LaunchCycle::Ahead::Arrived;
  const int before = jacobi.sent;
  EXPECT_LT(jacobi.wait(20), 3);
  EXPECT_LE(jacobi.sent, before + 2);
  EXPECT_EQ(jacobi.last, (Shares{0.4, 0.6}));
}

/// Seven cycles of sending, in each of which two launches take so much longer.
TEST(LaunchCycle, countsWhatItCostsToSendBesideOtherLaunches) {
  Foreseen jacobi;
  jacobi.maySendAllBut(1);
  jacobi.toCome = 18;
  jacobi.secondsHeldUp = 0.5;
  EXPECT_EQ(jacobi.wait(20), 20);
  EXPECT_EQ(jacobi.sent, 0);
  jacobi.secondsHeldUp = 0.05;
  EXPECT_LT(jacobi.wait(20), 20);
  EXPECT_GT(jacobi.sent, 0);
}

/// What is refused, or takes for ever, has to be paid for like all else.
TEST(LaunchCycle, doesNotWaitForEverForWhatIsSentAhead) {
  using Ahead = LaunchCycle::Ahead;
  for (const Ahead ahead : {Ahead::Refused, Ahead::UnderWay}) {
    Foreseen jacobi;
    jacobi.maySendAllBut(1);
    jacobi.ahead = ahead;
    jacobi.toCome = 18;
    EXPECT_EQ(jacobi.wait(200), 200);
    const int sent = jacobi.sent;
    EXPECT_GT(sent, 0);
    jacobi.toCome = 1000;
    EXPECT_LT(jacobi.wait(200), 200);
    EXPECT_EQ(jacobi.sent, sent);
  }
}

TEST(LaunchCycle, sendsNothingAheadWhereLittleIsOnlyRead) {
  Foreseen jacobi;
  jacobi.maySendAllBut(jacobi.outlook.onceSeconds - 0.01);
  jacobi.toCome = 1000;
  EXPECT_LE(jacobi.wait(20), 6);
  EXPECT_EQ(jacobi.sent, 0);
}

TEST(LaunchCycle, waitsForAnOutlookThatIsBeingMade) {
  Foreseen jacobi;
  jacobi.toCome = 1000;
  jacobi.isMade = false;
  EXPECT_EQ(jacobi.wait(20), 20);
  jacobi.isMade = true;
  EXPECT_LT(jacobi.wait(20), 20);
}

TEST(LaunchCycle, staysAtHomeWhereNothingIsForeseenToBeGained) {
  Foreseen jacobi;
  jacobi.toCome = 100'000;
  jacobi.outlook.seconds = 1.98;
  EXPECT_EQ(jacobi.wait(1000), 1000);
}

TEST(LaunchCycle, beginsAtOnceWhereEarlierRunsHadLaunchesEnough) {
  Foreseen jacobi;
  jacobi.toCome = 1000;
  EXPECT_LE(jacobi.wait(20), 6); // it takes three cycles to know one
}

TEST(LaunchCycle, triesWhatAnEarlierRunFoundSlowerOnlyNowAndThen) {
  Foreseen jacobi;
  jacobi.toCome = 100'000;
  jacobi.gainBefore = 0.5;
  EXPECT_EQ(jacobi.wait(290), 290); // three cycles at twice the time, of three hundred
  EXPECT_LT(jacobi.wait(80), 80);
  Foreseen better;
  better.toCome = 100'000;
  better.gainBefore = 1.5;
  EXPECT_LE(better.wait(20), 6);
}

// What one launch loses another may gain many times over.
TEST(LaunchCycle, triesWhatGainedAsAWholeInAnEarlierRunThoughOneLaunchLost) {
  Foreseen jacobi;
  jacobi.toCome = 100'000;
  jacobi.gainBefore = 2;
  jacobi.gainOfSecond = 0.5;
  jacobi.homeOfSecond = 0.1; // of the first's
  EXPECT_LE(jacobi.wait(20), 6);
}

TEST(LaunchCycle, leavesALaunchFreeThatPaysByItself) {
  Foreseen jacobi;
  jacobi.isFree = true;
  jacobi.wait(20);
  EXPECT_EQ(jacobi.modes.back(), Mode::Free);
}

TEST(LaunchCycle, leavesLaunchesToThemselvesOnceTheyAreThereIfNothingMoves) {
  Foreseen jacobi;
  jacobi.toCome = 1000;
  jacobi.seconds = 1.5;
  ASSERT_LT(jacobi.wait(20), 20);
  for (int i = 0; i < 20; ++i) {
    jacobi.pass(1);
    jacobi.pass(2);
  }
  EXPECT_EQ(jacobi.modes.back(), Mode::Free);
}

struct Linked : Foreseen {
  Linked() {
    toCome = 1000;
    isLinked = true;
  }
  /// Passes so many cycles, whose launches take so long; the mode of the last.
  Mode go(int cycles, double each) {
    seconds = each;
    for (int i = 0; i < cycles; ++i) {
      pass(1);
      pass(2);
    }
    return modes.back();
  }
};

TEST(LaunchCycle, judgesWhatWasForeseenOnlyOnceItsCyclesGetNoShorter) {
  Linked jacobi;
  ASSERT_LT(jacobi.wait(20), 20);
  EXPECT_EQ(jacobi.go(4, 3), Mode::Split); // 6 s a cycle, 2 at home
  EXPECT_EQ(jacobi.go(3, 1.5), Mode::Split);
  EXPECT_EQ(jacobi.go(3, 0.9), Mode::Split); // faster than at home: now it is judged
  EXPECT_NE(jacobi.go(20, 0.3), Mode::Native);
}

/// By rounds it has to be clearly faster than home, so it is judged only when it gets no faster.
TEST(LaunchCycle, judgesWhatIsHardlyFasterOnlyOnceItsRoundsGetNoShorter) {
  Linked jacobi;
  jacobi.toCome = 1; // it stays at home
  for (int i = 0; i < 8; ++i)
    jacobi.passRound(2, 2);
  jacobi.toCome = 100000;
  for (int i = 0; i < 40 && jacobi.modes.back() != Mode::Split; ++i)
    jacobi.passRound(2, 2.8);
  ASSERT_EQ(jacobi.modes.back(), Mode::Split);
  for (int i = 0; i < 14; ++i)
    jacobi.passRound(2, 1.95);
  for (int i = 0; i < 20; ++i) {
    jacobi.passRound(2, 1.7);
    EXPECT_EQ(jacobi.modes.back(), Mode::Split) << i;
  }
}

TEST(LaunchCycle, doesNotWaitUntilWhatTakesManyTimesAsLongGetsFaster) {
  Linked jacobi;
  ASSERT_LT(jacobi.wait(20), 20);
  EXPECT_EQ(jacobi.go(4, 50), Mode::Native);
  // What the system held up once is no such thing.
  Linked other;
  ASSERT_LT(other.wait(20), 20);
  EXPECT_EQ(other.go(1, 0.3), Mode::Split);
  EXPECT_EQ(other.go(1, 50), Mode::Split);
  EXPECT_NE(other.go(20, 0.3), Mode::Native);
}

TEST(LaunchCycle, judgesByWhatTheProgramWaitsFor) {
  for (const bool isKnownToGoOn : {false, true})
    for (const bool pays : {false, true}) {
      Foreseen jacobi;
      jacobi.isLinked = true;
      jacobi.toCome = isKnownToGoOn ? 10000 : 100;
      // The few launches that are timed say the opposite, as does what home takes by itself.
      jacobi.seconds = !pays ? 0.3 : isKnownToGoOn ? 5 : 0.9;
      const double home = pays ? 1.2 : 0.5, split = 0.7;
      for (int i = 0; i < 1000; ++i)
        jacobi.passRound(home, split);
      EXPECT_EQ(jacobi.modes.back() == Mode::Split, pays) << isKnownToGoOn;
      EXPECT_GT(std::ranges::count(jacobi.modes, Mode::Split), 60);
    }
}

TEST(LaunchCycle, goesHomeWhenItsRoundsBecomeSlowerThanThere) {
  Foreseen jacobi;
  jacobi.isLinked = true;
  jacobi.toCome = 10000;
  for (int i = 0; i < 1000; ++i)
    jacobi.passRound(1, 0.7);
  EXPECT_EQ(jacobi.modes.back(), Mode::Split);
  for (int i = 0; i < 20; ++i)
    jacobi.passRound(1, 1.2);
  EXPECT_NE(jacobi.modes.back(), Mode::Split);
}

TEST(LaunchCycle, leavesNoLaunchOfACycleAtHomeToItself) {
  Foreseen jacobi;
  jacobi.isLinked = true;
  jacobi.toCome = 10000;
  jacobi.seconds = 3; // it is slower by far
  jacobi.wait(100);
  for (int i = 0; i < 20; ++i)
    jacobi.pass(1), jacobi.pass(2);
  jacobi.modes.clear();
  for (int i = 0; i < 2000; ++i) {
    jacobi.isLookedAt = i % 10 == 0; // the others go to the driver as they came
    jacobi.pass(1), jacobi.pass(2);
  }
  EXPECT_EQ(std::ranges::count(jacobi.modes, Mode::Free), 0);
  EXPECT_LT(std::ranges::count(jacobi.modes, Mode::Split), 200);
}

TEST(LaunchCycle, doesNotMistakeARoundOfTwoWaysForOne) {
  Foreseen jacobi;
  jacobi.isLinked = true;
  jacobi.toCome = 1000;
  for (int i = 0; i < 400; ++i) {
    jacobi.pass(1);
    jacobi.pass(2);
    jacobi.cycle.roundEnded(1e9, 1); // of another queue's, say
  }
  EXPECT_EQ(jacobi.modes.back(), Mode::Split);
}

TEST(LaunchCycle, goesHomeIfWhatWasForeseenStaysSlower) {
  Linked jacobi;
  ASSERT_LT(jacobi.wait(20), 20);
  EXPECT_EQ(jacobi.go(20, 3), Mode::Native);
}

} // namespace
} // namespace libsplit::runtime
