#include "solver/chunk_plan.h"
#include "solver/share_solver.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace libsplit::solver {
namespace {

constexpr std::uint64_t total = 1000;

/// Two devices at `speeds` groups per second; `moved` seconds per group that a device gains.
struct Pair {
  double speeds[2];
  double moved = 0;
  std::uint64_t cut = 0;
  bool first = true;

  std::vector<DeviceSample> run(std::span<const double> shares) {
    const auto groups = roundToGroups(shares, total);
    std::vector<DeviceSample> samples = {
        {0, groups[0], static_cast<double>(groups[0]) / speeds[0]},
        {groups[0], total, static_cast<double>(groups[1]) / speeds[1]}};
    for (int d = 0; d < 2; ++d) {
      const std::uint64_t had = first ? 0 : d == 0 ? cut : total - cut;
      const double gained = groups[d] > had ? static_cast<double>(groups[d] - had) : 0;
      samples[d].transferSeconds = gained * moved;
      samples[d].seconds += gained * moved;
    }
    cut = groups[0];
    first = false;
    return samples;
  }
};

std::unique_ptr<ShareSolver> two(std::vector<double> known = {}) {
  return makeAuto({2, std::move(known), 0.01});
}

TEST(Auto, balancesUnequalDevicesAfterOneLaunch) {
  const auto solver = two();
  Pair machine{{3000, 1000}};
  solver->observe(machine.run(solver->propose()), total);
  EXPECT_NEAR(solver->propose()[0], 0.75, 0.01);
}

TEST(Auto, whatADriverCompiledInADevicesFirstChunkSaysNothingOfItsSpeed) {
  const auto solver = two();
  // Both take 0.56 ms for each of 64 groups, and have compiled for 0.15 s first.
  constexpr std::uint64_t groups = 64;
  constexpr double each = 0.56e-3, compiled = 0.15;
  const std::vector<ChunkSample> chunks = {{0, 0, 4, compiled + 4 * each},
                                           {0, 4, 19, 15 * each},
                                           {1, 19, 21, compiled + 2 * each},
                                           {0, 21, 42, 21 * each},
                                           {0, 42, 64, 22 * each}};
  solver->observeChunks(chunks, groups);
  for (int launch = 0; launch < 4; ++launch) {
    const std::uint64_t cut = roundToGroups(solver->propose(), groups)[0];
    const std::vector<DeviceSample> samples = {
        {0, cut, static_cast<double>(cut) * each},
        {cut, groups, static_cast<double>(groups - cut) * each}};
    solver->observe(samples, groups);
  }
  EXPECT_NEAR(solver->propose()[0], 0.5, 0.02);
}

TEST(Auto, aDeviceThatIsAsSlowAsItsFirstChunkWasGetsNoMoreThanASecond) {
  const auto solver = two();
  // A group of the second device's takes as long as the launch.
  const std::vector<ChunkSample> chunks = {
      {0, 0, 40, 0.004}, {1, 40, 41, 0.1}, {0, 41, 1000, 0.096}};
  solver->observeChunks(chunks, total);
  Pair machine{{10000, 10}};
  double given = 0;
  for (int launch = 0; launch < 50; ++launch) {
    given += solver->propose()[1];
    solver->observe(machine.run(solver->propose()), total);
  }
  EXPECT_LE(given * total, 50.0); // at most one group of each launch, which it does meanwhile
  EXPECT_LE(solver->propose()[1] * total, 1.1);
}

TEST(Auto, whoBeginsLaterGetsLess) {
  const auto solver = two({1, 1});
  Pair machine{{1000, 1000}};
  constexpr double later = 0.04; // of a launch that takes half a second
  std::vector<DeviceSample> samples;
  for (int launch = 0; launch < 4; ++launch) {
    samples = machine.run(solver->propose());
    samples[1].startSeconds = later;
    samples[1].seconds += later;
    solver->observe(samples, total);
  }
  EXPECT_NEAR(samples[0].seconds, samples[1].seconds, 0.002);
  EXPECT_NEAR(solver->propose()[0], 0.52, 0.002);
  EXPECT_NEAR(solver->speeds()[0] / solver->speeds()[1], 1, 0.01); // which is another matter
}

TEST(Auto, wantsChunksOnlyForAFirstLaunchOfWhichNothingIsKnown) {
  const auto unknown = two();
  EXPECT_TRUE(unknown->wantsChunks());
  const std::vector<ChunkSample> chunks = {{0, 0, 700, 0.1}, {1, 700, 1000, 0.1}};
  unknown->observeChunks(chunks, total);
  EXPECT_FALSE(unknown->wantsChunks());
  EXPECT_NEAR(unknown->propose()[0], 0.7, 0.02);
  EXPECT_FALSE(two({3, 1})->wantsChunks());
  EXPECT_FALSE(makeAuto({1, {}, 0.01})->wantsChunks());
}

TEST(Auto, startsFromKnownSpeedsAndTellsItsOwn) {
  const auto solver = two({3, 1});
  EXPECT_NEAR(solver->propose()[0], 0.75, 1e-9);
  Pair machine{{3000, 1000}};
  solver->observe(machine.run(solver->propose()), total);
  EXPECT_NEAR(solver->speeds()[0] / solver->speeds()[1], 3, 0.1);
}

TEST(Auto, whereMovingIsDearALittleImbalanceIsLeftAlone) {
  Pair machine{{1040, 1000}};
  machine.moved = 10; // seconds per group; the launch takes half a second
  const auto solver = two();
  for (int launch = 0; launch < 5; ++launch) {
    solver->observe(machine.run(solver->propose()), total);
    EXPECT_NEAR(solver->propose()[0], 0.5, 1e-9);
  }
  Pair cheap{{1040, 1000}};
  const auto other = two();
  other->observe(cheap.run(other->propose()), total);
  EXPECT_GT(other->propose()[0], 0.505);
}

TEST(Auto, whatAProbesPieceTakesToMoveSaysLittleOfWhatAllWould) {
  // A move takes 50 us however small it is; all of the data would take 1 ms.
  const auto solver = makeAuto({2, {1, 1e-9}, 0.01, 1e-3});
  constexpr double speed = 1e6, move = 50e-6, all = 1e-3;
  std::uint64_t had = 0;
  for (int launch = 0; launch < 20; ++launch) {
    const std::uint64_t others = roundToGroups(solver->propose(), total)[1];
    const double moving = others > had ? move + all * static_cast<double>(others - had) / total : 0;
    had = others;
    const auto rest = static_cast<double>(total - others);
    const std::vector<DeviceSample> samples = {
        {0, total - others, rest / speed},
        {total - others, total, static_cast<double>(others) / speed + moving, moving}};
    solver->observe(samples, total);
  }
  EXPECT_NEAR(solver->propose()[1], 0.5, 0.02) << "half a millisecond gained in each launch";
}

TEST(Auto, devicesOfWhichNothingIsKnownShowWhatTheyDoInOneLaunch) {
  constexpr unsigned devices = 6;
  std::vector<double> known(devices, 1e-9);
  known[0] = 1;
  const auto solver = makeAuto({devices, known, 0.01});
  unsigned most = 0;
  for (int launch = 0; launch < 20; ++launch) {
    const auto groups = roundToGroups(solver->propose(), total);
    std::vector<DeviceSample> samples;
    std::uint64_t at = 0;
    for (const std::uint64_t each : groups) {
      samples.push_back({at, at + each, static_cast<double>(each) / 1000});
      at += each;
    }
    most = std::max(most, static_cast<unsigned>(std::ranges::count_if(
                              groups, [](std::uint64_t each) { return each > 0; })));
    solver->observe(samples, total);
  }
  EXPECT_EQ(most, devices);
  for (const double share : solver->propose())
    EXPECT_NEAR(share, 1.0 / devices, 0.01) << "all are alike";
}

TEST(Auto, oneLaunchAloneIsAskedToProbeHoweverManyAreUnderWay) {
  const auto solver = makeAuto({2, {1, 1e-9}, 0.01});
  unsigned probes = 0;
  for (int launch = 0; launch < 12; ++launch) { // those that are heard of were begun long ago
    const auto groups = roundToGroups(solver->propose(), total);
    solver->begins();
    probes += groups[1] > 0;
    solver->observe(std::vector<DeviceSample>{{0, total, 1.0}, {total, total, 0}}, total);
  }
  EXPECT_EQ(probes, 1u);
}

TEST(Auto, whatOneTimingToldOfADeviceStaysWhileOthersWork) {
  // A chunk of few groups, with what the driver compiled in it; then home alone, with a load that
  // lies unevenly.
  const auto solver = two();
  const std::vector<ChunkSample> chunks = {
      {0, 0, 500, 0.05}, {1, 500, 502, 0.2}, {0, 502, 900, 0.2}, {0, 900, total, 0.001}};
  solver->observeChunks(chunks, total);
  for (int launch = 0; launch < 12; ++launch)
    solver->observe(std::vector<DeviceSample>{{0, total, 0.251}, {total, total, 0}}, total);
  LoadProfile profile;
  ASSERT_TRUE(solver->describe(profile, total));
  EXPECT_LT(profile.seconds(1, 0.5, 0.502), 4 * 0.2);
  EXPECT_GT(profile.seconds(1, 0.5, 0.502), 0.2 / 4);
}

TEST(Auto, aSmallShareGrowsThoughItsNextStepGainsNextToNothing) {
  Pair machine{{1000, 1000}};
  machine.moved = 0.03; // half a second a launch; to move half of it takes thirty
  const auto solver = two({99, 1});
  for (int launch = 0; launch < 20; ++launch) {
    solver->observe(machine.run(solver->propose()), total);
    EXPECT_GT(solver->propose()[0], 0.9) << "it does not pay yet";
    EXPECT_GT(solver->propose()[1], 0) << "what waits is no reason to try one device alone";
  }
  for (int launch = 0; launch < 60; ++launch)
    solver->observe(machine.run(solver->propose()), total);
  EXPECT_NEAR(solver->propose()[0], 0.5, 0.02);
}

/// One device lies with the data: the other's share has to come there first.
std::vector<DeviceSample> firstSplit(std::span<const double> shares, double movedSeconds) {
  const auto groups = roundToGroups(shares, total);
  return {{0, groups[0], static_cast<double>(groups[0]) * 1e-6},
          {groups[0], total, static_cast<double>(groups[1]) * 1e-6 + movedSeconds, movedSeconds}};
}

TEST(Auto, aFirstShareThatTookLongToArriveSaysNothingOfSpeed) {
  const auto solver = two({1, 1});
  solver->observe(firstSplit(solver->propose(), 1), total); // two thousand times the computing
  EXPECT_NEAR(solver->propose()[0], 0.5, 0.01);
}

TEST(Auto, whatMovedThereDearlyIsNotFetchedBackForALittleGain) {
  const auto solver = two({1, 1});
  auto samples = firstSplit(solver->propose(), 1);
  samples[1].seconds += 150e-6; // the first time, something else took a while, too
  solver->observe(samples, total);
  EXPECT_NEAR(solver->propose()[0], 0.5, 0.01);
}

// Two devices that are as fast alone: 0.5 s a launch together, 1 s on either. What the first launch
// on the second alone takes more has to be worth it first.
TEST(Auto, aDeviceWhoseDriverWouldHaveToCompileForThatIsNotTriedAloneSoon) {
  const auto firstAlone = [](double once) {
    const auto solver = makeAuto({2, {0.99, 1}, 0.01, 0, {0, once}});
    Pair machine{{1000, 1010}};
    int launch = 0;
    for (; launch < 1000 && solver->propose()[1] < 0.999; ++launch) {
      solver->begins();
      solver->observe(machine.run(solver->propose()), total);
    }
    return launch;
  };
  const int soon = firstAlone(0);
  ASSERT_LT(soon, 100) << "or nothing is shown";
  EXPECT_GT(firstAlone(100), 2 * soon);
  EXPECT_LT(firstAlone(100), 1000) << "it pays in the end";
}

TEST(Auto, oneLaunchThatStumblesIsNotBelievedTwoAre) {
  const auto solver = two();
  Pair machine{{3000, 1000}};
  for (int launch = 0; launch < 6; ++launch)
    solver->observe(machine.run(solver->propose()), total);
  ASSERT_NEAR(solver->propose()[0], 0.75, 0.01);
  const double before = solver->propose()[0];
  auto stumbling = machine.run(solver->propose());
  stumbling[0].seconds *= 20;
  solver->observe(stumbling, total);
  EXPECT_EQ(solver->propose()[0], before);
  solver->observe(machine.run(solver->propose()), total);
  EXPECT_NEAR(solver->propose()[0], before, 0.01);

  solver->observe(stumbling, total);
  EXPECT_NEAR(solver->propose()[0], before, 0.01);
  solver->observe(stumbling, total);
  EXPECT_LT(solver->propose()[0], 0.5);
}

TEST(Auto, aLaunchWhosePartsDoNotMakeAWholeIsNotLearntFrom) {
  const auto solver = two();
  solver->observe(std::vector<DeviceSample>{{0, 100, 1.0}, {500, 600, 9.0}}, total);
  EXPECT_EQ(solver->summary().stop, Stop::NotMeasured);
  EXPECT_NEAR(solver->propose()[0], 0.5, 1e-9);
}

TEST(ChunkPlan, aDeviceThatWouldFinishLastGetsNoMore) {
  ChunkPlan plan(2);
  plan.begin(1000);
  const GroupRange fast = plan.next(0);
  const GroupRange slow = plan.next(1);
  plan.finish(0, fast, 0.001);
  std::uint64_t given = slow.end;
  while (given < 990) {
    const GroupRange more = plan.next(0);
    ASSERT_FALSE(more.empty());
    plan.finish(0, more, 0.001);
    given = more.end;
  }
  plan.finish(1, slow, 100.0);
  EXPECT_TRUE(plan.next(1).empty());
}

TEST(ChunkPlan, aDeviceThatIsThoughtToFinishLastGetsNothing) {
  ChunkPlan plan(3);
  plan.begin(897, 1, std::vector<double>{1, 0.01, 0.0001});
  const GroupRange first = plan.next(0);
  plan.finish(0, first, 0.001 * static_cast<double>(first.size()));
  EXPECT_FALSE(plan.next(1).empty()); // 0.1 s, of which home needs most of a second
  EXPECT_TRUE(plan.next(2).empty());  // ten seconds
  while (!plan.next(0).empty()) {
  }
  EXPECT_EQ(plan.remaining(), 0u);
}

TEST(ChunkPlan, noChunkIsSmallerThanWhatItsDeviceRunsAtOnceNorShorterThanWorthwhile) {
  ChunkPlan plan(2);
  const std::uint64_t fill[] = {1, 40};
  const double alike[] = {1, 1};
  plan.begin(1000, 1, alike, {0.5, fill});
  const GroupRange first = plan.next(0);
  EXPECT_GE(plan.next(1).size(), 40u);
  plan.finish(0, first, static_cast<double>(first.size()) / 100); // 100 groups per second
  EXPECT_GE(plan.next(0).size(), 50u);
}

TEST(ChunkPlan, aDeviceOfWhichNothingIsKnownGetsOneGroup) {
  ChunkPlan plan(2);
  const std::uint64_t fill[] = {1, 32};
  const double home[] = {1, 0};
  plan.begin(4096, 1, home, {2e-3, fill});
  const GroupRange first = plan.next(0);
  EXPECT_GT(first.size(), 10u);
  plan.finish(0, first, 1e-3);
  const GroupRange probe = plan.next(1);
  EXPECT_EQ(probe.size(), 1u);
  plan.finish(1, probe, 0.01); // as long as a thousand groups take elsewhere
  EXPECT_LE(plan.next(1).size(), 4u);
}

TEST(ChunkPlan, aPartCanBeTakenWhateverThePlan) {
  ChunkPlan plan(2);
  plan.begin(100);
  const std::uint64_t probe = plan.next(0).size();
  EXPECT_EQ(plan.take(0, 30).size(), 30u);
  EXPECT_EQ(plan.remaining(), 100 - probe - 30);
  EXPECT_EQ(plan.take(0, 1000).size(), 100 - probe - 30);
  EXPECT_TRUE(plan.take(0, 1).empty());
  EXPECT_TRUE(plan.next(1).empty());
}

TEST(ChunkPlan, knownSpeedsSizeTheFirstChunks) {
  ChunkPlan plan(2);
  const double speeds[] = {9, 1};
  plan.begin(1000, 1, speeds);
  EXPECT_GT(plan.next(0).size(), 5 * plan.next(1).size());
}

} // namespace
} // namespace libsplit::solver
