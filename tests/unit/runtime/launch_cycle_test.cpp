#include "runtime/launch_cycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace libsplit::runtime {
namespace {

constexpr double secondsPerByte = 1e-6;
constexpr std::uint64_t bytes = 1'000'000; // of each buffer

/// Two kernels over two buffers on two devices. One kernel is four times as fast on device 0, the
/// other equally fast on both; each needs what the other wrote.
struct Jacobi {
  std::vector<double> whole[2] = {{1, 4}, {1, 1}};
  std::vector<double> own[2] = {{0.8, 0.2}, {0.5, 0.5}};
  double moveSeconds = secondsPerByte; ///< what moving a byte really costs
  std::vector<double> last[2] = {own[0], own[1]};
  int buffers[2] = {0, 0};
  LaunchCycle cycle;
  std::uint64_t launches = 0;

  /// Seconds of one cycle, as the machine has it.
  double step() {
    double sum = 0;
    for (std::size_t k = 0; k < 2; ++k, ++launches) {
      auto section = [&, k] {
        const ByteSet middle(bytes * 7 / 16, bytes * 9 / 16);
        return std::vector<SectionUse>{{&buffers[k], middle, {}}, {&buffers[1 - k], {}, middle}};
      };
      auto profile = [&, k](solver::LoadProfile& to) {
        to = {{0, 0}, whole[k], {}};
        return true;
      };
      const auto shares = cycle.next({k, own[k], secondsPerByte, profile, section});
      last[k].assign(shares.begin(), shares.end());
      const double gained = shares[0] - last[1 - k][0]; // by device 0 since the last launch
      const double seconds =
          std::max(whole[k][0] * shares[0] + std::max(0.0, gained) * bytes * moveSeconds,
                   whole[k][1] * shares[1] + std::max(0.0, -gained) * bytes * moveSeconds);
      cycle.took(seconds);
      sum += seconds;
    }
    return sum;
  }
};

TEST(LaunchCycle, findsJointSharesThatShortenTheCycle) {
  Jacobi jacobi;
  double seconds = 0;
  const double alone = jacobi.step();
  for (int i = 0; i < 30; ++i)
    seconds = jacobi.step();
  EXPECT_EQ(jacobi.cycle.length(), 2u);
  EXPECT_TRUE(jacobi.cycle.isJoint());
  EXPECT_LT(std::abs(jacobi.last[0][0] - jacobi.last[1][0]), 0.2);
  EXPECT_LT(seconds, 0.9 * alone);
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

TEST(LaunchCycle, leavesLaunchesAloneThatDoNotRepeatOrStandAlone) {
  LaunchCycle cycle;
  const std::vector<double> own = {0.7, 0.3};
  auto never = [](solver::LoadProfile&) -> bool { throw std::logic_error("asked"); };
  for (std::uint64_t i = 0; i < 100; ++i)
    EXPECT_EQ(cycle.next({i, own, 1, never, {}}).data(), own.data());
  for (std::uint64_t i = 0; i < 100; ++i)
    EXPECT_EQ(cycle.next({1, own, 1, never, {}}).data(), own.data());
}

TEST(LaunchCycle, chancesNothingWhereMovingOrALoadIsNotKnown) {
  Jacobi jacobi;
  jacobi.whole[1] = {1, std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 30; ++i)
    jacobi.step();
  EXPECT_FALSE(jacobi.cycle.isJoint());
  EXPECT_EQ(jacobi.last[0], jacobi.own[0]);
}

} // namespace
} // namespace libsplit::runtime
