#include "tests/simulator/model/launch_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace libsplit::simulator {
namespace {

/// Devices of so many seconds per group, over `groups` groups, and what runs on them.
struct Machine {
  std::vector<double> perGroup;
  std::uint64_t groups = 100;

  double run(LaunchChoice& choice, const LaunchChoice::Choice& made) const {
    const std::vector<std::uint64_t> counts = solver::roundToGroups(made.shares, groups);
    std::vector<DeviceSample> samples;
    std::uint64_t begin = 0;
    double wall = 0;
    for (std::size_t d = 0; d < counts.size(); begin += counts[d++]) {
      const double seconds = perGroup[d] * static_cast<double>(counts[d]);
      samples.push_back({begin, begin + counts[d], seconds});
      wall = std::max(wall, seconds);
    }
    if (!made.isNative)
      choice.observe(samples, groups, wall, made.ticket);
    return wall;
  }
  double step(LaunchChoice& choice, LaunchChoice::Situation situation = {}) const {
    situation.groups = static_cast<double>(groups);
    return run(choice, choice.next(situation));
  }
};

LaunchChoice::Setup devices(std::vector<DevicePrior> priors) {
  LaunchChoice::Setup setup;
  for (unsigned i = 0; i < priors.size(); ++i)
    setup.memories.push_back(i);
  setup.devices = std::move(priors);
  return setup;
}

/// Whoever gives the second device all moves for as long as 40 launches take at home.
LaunchChoice::Situation dearToMove() {
  LaunchChoice::Situation situation;
  situation.moving = [](std::span<const double> shares) { return 40 * shares[1]; };
  return situation;
}

TEST(LaunchChoice, devicesAlikeShareTheSecondLaunch) {
  LaunchChoice choice(devices({{1, 0}, {1, 0.1}}));
  const Machine machine{{0.01, 0.01}};
  machine.step(choice);
  EXPECT_NEAR(machine.step(choice), 0.5, 0.05);
}

TEST(LaunchChoice, anUnknownDeviceNeverMakesALaunchMuchLonger) {
  // It is ten or a hundred times slower than its driver makes one think.
  for (const double slower : {10.0, 100.0}) {
    LaunchChoice choice(devices({{1, 0}, {1.0 / 30, 2}}));
    const Machine machine{{0.25 / 4096, 30 * slower * 0.25 / 4096}, 4096};
    double sum = 0;
    for (int i = 0; i < 200; ++i)
      sum += machine.step(choice);
    EXPECT_LT(sum / 200, 0.25 * 1.15) << slower;
  }
}

TEST(LaunchChoice, anUnknownDeviceThatIsFasterSoonHasMost) {
  LaunchChoice choice(devices({{1, 0}, {1.0 / 30, 2}}));
  const Machine machine{{0.25 / 4096, 0.025 / 4096}, 4096};
  for (int i = 0; i < 8; ++i)
    machine.step(choice);
  EXPECT_LT(machine.step(choice), 0.03);
}

TEST(LaunchChoice, movesDataOnceTheLaunchesSoFarAreWorthIt) {
  LaunchChoice choice(devices({{1, 0}, {1, 0.1}}));
  const Machine machine{{0.01, 0.01}};
  const LaunchChoice::Situation situation = dearToMove();
  int launches = 0;
  while (launches < 200 && machine.step(choice, situation) > 0.9)
    ++launches;
  EXPECT_GE(launches, 39) << "each saves half a second, and 20 are to be moved";
  EXPECT_LE(launches, 60);
}

TEST(LaunchChoice, staysHomeWhereASplitLaunchTakesMoreBesideItsPiecesThanItSaves) {
  LaunchChoice choice(devices({{1, 0}, {1, 0.1}}));
  const Machine machine{{1e-7, 1e-7}}; // 10 µs
  LaunchChoice::Situation situation;
  situation.splitSeconds = 50e-6;
  double sum = 0;
  for (int i = 0; i < 1000; ++i)
    sum += machine.step(choice, situation);
  EXPECT_GT(sum, 0.99 * 1000 * 10e-6) << "hardly any was split";
  EXPECT_TRUE(choice.isHomeAlone());
}

TEST(LaunchChoice, changesNothingWhileItsLastChangeIsUnanswered) {
  LaunchChoice choice(devices({{1, 0}, {1, 2}}));
  const Machine machine{{0.01, 0.03}};
  machine.step(choice);
  LaunchChoice::Situation situation;
  situation.groups = 100;
  const LaunchChoice::Choice first = choice.next(situation);
  ASSERT_LT(first.shares[0], 1);
  const std::vector<double> shares(first.shares.begin(), first.shares.end());
  for (int i = 0; i < 100; ++i) {
    const LaunchChoice::Choice next = choice.next(situation);
    EXPECT_EQ(shares, std::vector<double>(next.shares.begin(), next.shares.end())) << i;
  }
}

TEST(LaunchChoice, aDeviceThatJoinsIsUsedAndOneThatLeavesIsNot) {
  LaunchChoice choice(devices({{1, 0}, {1, 0.1}}));
  const Machine machine{{0.01, 0.01}};
  choice.setUsable(1, false);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(machine.step(choice), 1.0);
  choice.setUsable(1, true);
  EXPECT_LT(machine.step(choice), 0.6);
  choice.setUsable(1, false);
  EXPECT_EQ(machine.step(choice), 1.0);
}

TEST(LaunchChoice, saysInNumbersWhy) {
  LaunchChoice choice(devices({{1, 0}, {1, 0.1}}));
  const Machine machine{{0.01, 0.01}};
  const LaunchChoice::Situation situation = dearToMove();
  for (int i = 0; i < 10; ++i)
    machine.step(choice, situation);
  EXPECT_NE(choice.why().find("once to move: pays after"), std::string::npos) << choice.why();
}

} // namespace
} // namespace libsplit::simulator
