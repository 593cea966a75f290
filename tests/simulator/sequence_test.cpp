// Cycles of kernels over shared buffers: joint shares against brute force over all cuts on a grid.
#include "solver/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

namespace libsplit::simulator {
namespace {

using solver::CycleLink;
using solver::LoadProfile;

struct Program {
  std::vector<LoadProfile> kernels;
  std::vector<CycleLink> links;
  std::vector<std::vector<double>> own; ///< what suits each kernel by itself
};

double uniform(std::mt19937& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// Kernels that like the devices differently, each reading what the one before wrote.
Program randomProgram(std::uint32_t seed, std::size_t kernels, std::size_t devices) {
  std::mt19937 random(seed);
  Program program;
  for (std::size_t k = 0; k < kernels; ++k) {
    LoadProfile profile;
    double rate = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      profile.fixed.push_back(uniform(random, 0, 1) < 0.5 ? 0 : uniform(random, 0, 0.05));
      profile.whole.push_back(std::pow(10, uniform(random, -0.5, 0.5)));
      rate += 1 / profile.whole.back();
    }
    if (uniform(random, 0, 1) < 0.4) { // work that rises with the position
      profile.work.resize(33);
      for (std::size_t i = 0; i < 33; ++i)
        profile.work[i] = std::pow(static_cast<double>(i) / 32, 1.5);
    }
    // Balanced as if it were alone and its work even: a start that need not be good.
    program.own.emplace_back();
    for (std::size_t d = 0; d < devices; ++d)
      program.own.back().push_back(1 / profile.whole[d] / rate);
    program.kernels.push_back(std::move(profile));
    program.links.push_back({k, (k + 1) % kernels, std::pow(10, uniform(random, -1.5, 0.7))});
  }
  return program;
}

/// All ways to cut 0..1 into `devices` ranges on a grid, as shares.
std::vector<std::vector<double>> grid(std::size_t devices, int steps) {
  std::vector<std::vector<double>> all;
  std::vector<double> shares;
  std::function<void(int)> extend = [&](int left) {
    if (shares.size() + 1 == devices) {
      shares.push_back(static_cast<double>(left) / steps);
      all.push_back(shares);
      shares.pop_back();
      return;
    }
    for (int part = 0; part <= left; ++part) {
      shares.push_back(static_cast<double>(part) / steps);
      extend(left - part);
      shares.pop_back();
    }
  };
  extend(steps);
  return all;
}

double bruteForce(const Program& program, int steps) {
  const auto cuts = grid(program.own.front().size(), steps);
  double best = 1e300;
  std::vector<std::vector<double>> chosen(program.kernels.size());
  std::function<void(std::size_t)> choose = [&](std::size_t kernel) {
    if (kernel == program.kernels.size()) {
      best = std::min(best, solver::cycleSeconds(program.kernels, program.links, chosen));
      return;
    }
    for (const auto& shares : cuts) {
      chosen[kernel] = shares;
      choose(kernel + 1);
    }
  };
  choose(0);
  return best;
}

struct Size {
  std::size_t kernels, devices;
  int steps;
};

TEST(Sequence, jointSharesAreAsGoodAsTheBestOnAGrid) {
  const char* count = std::getenv("LIBSPLIT_TEST_SEEDS");
  const std::uint32_t seeds = count ? static_cast<std::uint32_t>(std::atol(count)) / 10 : 20;
  for (const Size size : {Size{2, 2, 60}, Size{3, 2, 24}, Size{2, 3, 14}}) {
    std::vector<double> ratios, gains;
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
      const Program program = randomProgram(seed, size.kernels, size.devices);
      const auto joint = balanceCycle(program.kernels, program.links, program.own);
      EXPECT_NEAR(joint.seconds, solver::cycleSeconds(program.kernels, program.links, joint.shares),
                  1e-9 * joint.seconds);
      const double alone = solver::cycleSeconds(program.kernels, program.links, program.own);
      EXPECT_LE(joint.seconds, alone * (1 + 1e-9));
      ratios.push_back(joint.seconds / bruteForce(program, size.steps));
      gains.push_back(alone / joint.seconds);
    }
    std::sort(ratios.begin(), ratios.end());
    std::sort(gains.begin(), gains.end());
    EXPECT_LE(ratios.back(), 1.005) << size.kernels << " kernels, " << size.devices << " devices";
    EXPECT_GE(gains[gains.size() / 2], 1.02);
    std::printf("%zu kernels on %zu devices: worst %.3f of brute force, median gain %.2f\n",
                size.kernels, size.devices, ratios.back(), gains[gains.size() / 2]);
  }
}

} // namespace
} // namespace libsplit::simulator
