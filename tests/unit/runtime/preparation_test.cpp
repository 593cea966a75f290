#include "runtime/cost/preparation.h"
#include "runtime/session/launch.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

constexpr double shortest = 300e-6;

/// `count` launches, of which those that should be are timed.
void launch(LaunchTimes& times, std::uint64_t items, double seconds, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (times.launched(items)) {
      times.timing(items);
      times.took(items, seconds, shortest);
    }
}

bool isWorth(const LaunchTimes& times, double programSeconds, double part) {
  return isWorthPreparing(times.seconds(), times.compiling(), programSeconds, guessedPreparation,
                          part);
}

TEST(LaunchTimes, WhatAGpusFirstLaunchBringsOverIsNoCompiling) {
  LaunchTimes times;
  for (const double seconds : {0.45, 0.0015, 0.0015, 0.0015}) {
    times.launched(64);
    times.took(64, seconds, 1e-4, false);
  }
  EXPECT_EQ(times.compiling(), 0);
  EXPECT_TRUE(times.knowsCompiling());
}

TEST(Preparation, TheFirstLaunchTellsWhatCompilingTakes) {
  LaunchTimes times;
  launch(times, 1000, 0.06, 1);
  EXPECT_EQ(times.seconds(), 0);
  launch(times, 1000, 0.01, 99);
  EXPECT_NEAR(times.seconds(), 1, 1e-9);
  EXPECT_NEAR(times.compiling(), 0.05, 1e-9);
}

TEST(LaunchTimes, RefusedLaunchesAreNone) {
  LaunchTimes times;
  for (unsigned i = 0; i < 2 * LaunchTimes::samplesNeeded; ++i) {
    ASSERT_TRUE(times.launched(64));
    times.timing(64);
    times.refused(64);
  }
  launch(times, 128, 0.001, 10);
  EXPECT_TRUE(times.isOfOneSize());
  launch(times, 64, 0.001, 10);
  EXPECT_NEAR(times.seconds(), 0.02, 1e-9);
}

TEST(Preparation, EverFewerLaunchesAreTimed) {
  LaunchTimes times;
  unsigned timed = 0;
  for (int i = 0; i < 1000; ++i)
    if (times.launched(64)) {
      times.timing(64);
      ++timed;
    }
  EXPECT_LE(timed, LaunchTimes::samplesNeeded + 7); // the 8th, the 16th, … the 512th
  for (unsigned i = 0; i < timed; ++i)
    times.took(64, 0.001, shortest);
  EXPECT_NEAR(times.seconds(), 1, 1e-9);
}

TEST(Preparation, ShortLaunchesNeverPay) {
  LaunchTimes times;
  launch(times, 64, 100e-6, 1000000);
  EXPECT_EQ(times.seconds(), 0);
  EXPECT_FALSE(isWorth(times, 1000, idlePart));
}

TEST(Preparation, ALongLaunchCountsAtOnce) {
  LaunchTimes times;
  launch(times, 64, 10, 1);
  EXPECT_NEAR(times.seconds(), 10 - guessedPreparation, 1e-9);
  launch(times, 64, 10, 1);
  EXPECT_NEAR(times.seconds(), 20, 1e-9);
}

TEST(Preparation, PaysOnceItIsASmallPart) {
  LaunchTimes times;
  unsigned launches = 0;
  launch(times, 1000, 0.06, 1);
  for (; !isWorth(times, times.seconds(), busyPart); ++launches)
    launch(times, 1000, 0.01, 1);
  EXPECT_NEAR(launches, guessedPreparation / busyPart / 0.01, 2);
  // Others of its program help, but the kernel has to earn its own compiling.
  LaunchTimes rare;
  launch(rare, 1000, 0.06, 1);
  launch(rare, 1000, 0.01, 4);
  EXPECT_FALSE(isWorth(rare, 1000, busyPart));
  launch(rare, 1000, 0.01, 20);
  EXPECT_TRUE(isWorth(rare, 1000, busyPart));
}

TEST(LaunchTimes, OfManySizesMostAreNotTimedAndCountAsFarAsOthersTell) {
  LaunchTimes times;
  unsigned timed = 0;
  for (std::uint64_t items = 1; items < 1000; ++items)
    for (int i = 0; i < 2; ++i)
      if (times.launched(items)) {
        times.timing(items);
        times.took(items, 0.001, shortest);
        ++timed;
      }
  EXPECT_EQ(timed, 2 * LaunchTimes::mostSizes);
  EXPECT_NEAR(times.seconds(), 0.002 * 999, 0.001);
}

TEST(Preparation, MayTakeAsLongAsTheLaunchesWhereAProcessorIsIdle) {
  EXPECT_EQ(preparationPart(-0.1), busyPart); // clocks differ a little
  EXPECT_EQ(preparationPart(0), busyPart);
  EXPECT_EQ(preparationPart(1), idlePart);
  EXPECT_EQ(preparationPart(30), idlePart);
  LaunchTimes times;
  launch(times, 1000, 0.01, 60);
  EXPECT_FALSE(isWorth(times, times.seconds(), busyPart));
  EXPECT_TRUE(isWorth(times, times.seconds(), idlePart));
}

TEST(Preparation, PromisesWhatTheOthersSeemToBeWorth) {
  auto device = [](bool isHome, bool isGpu, unsigned units) {
    Device made;
    made.isHome = isHome;
    made.isGpu = isGpu;
    made.computeUnits = units;
    made.megahertz = 2000;
    return made;
  };
  auto promise = [](const std::vector<Device>& devices) {
    return promiseOf(guessedPartOf(devices, [&](std::size_t i) { return !devices[i].isHome; }));
  };
  std::vector<Device> devices;
  devices.push_back(device(true, true, 132));
  EXPECT_EQ(promise(devices), 0);
  devices.push_back(device(false, false, 16));
  EXPECT_GT(promise(devices), 0);
  EXPECT_LT(promise(devices), 0.1);
  devices.push_back(device(false, true, 132));
  EXPECT_EQ(promise(devices), 1);
  devices.back().participates = false;
  EXPECT_LT(promise(devices), 0.1);
  devices.front().isHome = false;
  devices[1].isHome = true;
  EXPECT_EQ(promise(devices), 1); // a GPU for a processor's program
}

TEST(Preparation, TellsByWhatAProgramMayBeHeldUpAtItsEnd) {
  EXPECT_EQ(holdUp(0, 0, 0.5), 0); // nobody knows
  EXPECT_EQ(holdUp(0, 0.6, 0.5), 0);
  EXPECT_NEAR(holdUp(0.2, 0.6, 0.5), 0.1, 1e-9);
  EXPECT_NEAR(holdUp(0.7, 0.6, 0.5), 0.5, 1e-9); // it may only be a little late
  EXPECT_EQ(holdUp(1.2, 0.6, 0.5), 0);
  EXPECT_NEAR(holdUp(0, 0.4, 0.5), 0.1, 1e-9);
}

// A breadth-first search: the first levels are short, and so are most.
TEST(LaunchTimes, CountWhatTheyTakeOnAverage) {
  LaunchTimes times;
  for (int i = 0; i < 900; ++i) {
    const int level = i % 15;
    const double seconds = level >= 6 && level < 10 ? 5e-3 : 20e-6;
    if (times.launched(1 << 20)) {
      times.timing(1 << 20);
      times.took(1 << 20, seconds, shortest);
    }
  }
  EXPECT_GT(times.seconds(), 0.1); // 1.2 s
  EXPECT_LT(times.seconds(), 3.0);
}

TEST(LaunchTimes, WhatOneLaunchWasHeldUpByDoesNotCount) {
  LaunchTimes times;
  for (int i = 0; i < 100; ++i)
    if (times.launched(64)) {
      times.timing(64);
      times.took(64, i == 2 ? 0.5 : 100e-6, shortest);
    }
  EXPECT_EQ(times.seconds(), 0);
}

// An elimination: each step is smaller than the one before.
TEST(LaunchTimes, SizesThatComeOnceTellOfEachOther) {
  LaunchTimes times;
  double all = 0;
  for (std::uint64_t rows = 512; rows > 0; --rows) {
    const std::uint64_t items = rows * rows;
    const double seconds = 1e-6 * static_cast<double>(items); // 0.26 s and less
    all += seconds;
    launch(times, items, seconds, 1);
  }
  EXPECT_NEAR(times.seconds(), all, 0.1 * all);
  EXPECT_TRUE(times.knowsCompiling());
}

TEST(Preparation, WhatABusyMachineTookForABuildIsForgotten) {
  double seconds = buildingSeconds(10, 0);
  EXPECT_EQ(seconds, 10);
  for (int run = 0; run < 20; ++run)
    seconds = buildingSeconds(0.5, seconds);
  EXPECT_EQ(seconds, 0.5);
}

TEST(Preparation, KnowsWhatLaunchesOfASizeTake) {
  LaunchTimes times;
  EXPECT_EQ(times.secondsOf(64), 0);
  launch(times, 64, 0.1, 1);
  EXPECT_EQ(times.secondsOf(64), 0); // the driver may have compiled
  launch(times, 64, 100e-6, 1);
  EXPECT_EQ(times.secondsOf(64), 100e-6);
  EXPECT_EQ(times.secondsOf(65), 0);
}

TEST(Preparation, ShortLaunchesOfAPreparedProgramFollow) {
  LaunchTimes times;
  launch(times, 64, 100e-6, 1);
  EXPECT_FALSE(isWorthPreparingToo(times, 1, 0, busyPart)); // what compiling takes is not known
  launch(times, 64, 100e-6, 1);
  EXPECT_FALSE(isWorthPreparing(times.seconds(), times.compiling(), 1, 0, busyPart));
  EXPECT_TRUE(isWorthPreparingToo(times, 1, 0, busyPart));
  EXPECT_FALSE(isWorthPreparingToo(times, 1, 0.31, busyPart)); // others took all
}

TEST(Preparation, AnalysingAloneIsBegunLongBeforeAllOfIt) {
  EXPECT_FALSE(isWorthAnalysing(0, 0)) << "nothing is known to be launched";
  EXPECT_FALSE(isWorthAnalysing(0.04, 0.5));
  EXPECT_TRUE(isWorthAnalysing(0.06, 0.5));
  EXPECT_FALSE(isWorthPreparing(0.06, 0, 0.06, 0.5, idlePart));
}

} // namespace
} // namespace libsplit::runtime
