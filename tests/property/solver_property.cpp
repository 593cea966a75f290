// What every share solver promises whatever it is told.
#include "solver/chunk_plan.h"
#include "solver/sequence.h"
#include "solver/share_solver.h"
#include "tests/property/seeds.h"

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define COUNTS_ALLOCATIONS 1
// Eigen allocates by malloc, the rest by operator new, which ends here too.
static std::size_t allocations = 0;
extern "C" void* __libc_malloc(std::size_t); // NOLINT(readability-identifier-naming): glibc
extern "C" void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
#endif

namespace libsplit::solver {
namespace {

struct Method {
  const char* name;
  std::function<std::unique_ptr<ShareSolver>(std::size_t devices)> make;
};

std::vector<Method> methods() {
  auto uniform = [](std::size_t n) { return std::vector<double>(n, 1.0); };
  return {
      {"static", [=](std::size_t n) { return makeStatic(uniform(n)); }},
      {"fixed point", [=](std::size_t n) { return makeFixedPoint(uniform(n)); }},
      {"broyden", [=](std::size_t n) { return makeBroyden(uniform(n), BroydenUpdate::Good); }},
      {"broyden-bad", [=](std::size_t n) { return makeBroyden(uniform(n), BroydenUpdate::Bad); }},
      {"profile", [](std::size_t n) { return makeProfile(static_cast<unsigned>(n)); }},
      {"auto", [](std::size_t n) { return makeAuto({static_cast<unsigned>(n), {}, 0.01}); }},
  };
}

double absurd(std::mt19937& random) {
  static const double values[] = {0,
                                  -1,
                                  std::numeric_limits<double>::quiet_NaN(),
                                  std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::max(),
                                  std::numeric_limits<double>::denorm_min(),
                                  1e-11,
                                  1e11};
  return values[pick(random, 0, 8)];
}

std::vector<DeviceSample> randomSamples(std::mt19937& random, ShareSolver& solver,
                                        std::uint64_t groups, int percentAbsurd) {
  const auto counts = roundToGroups(solver.propose(), groups);
  std::vector<DeviceSample> samples;
  std::uint64_t at = 0;
  for (const std::uint64_t count : counts) {
    const double seconds = static_cast<double>(count) * 1e-4 *
                           std::exp(std::uniform_real_distribution<double>(-1, 1)(random));
    samples.push_back({at, at + count, seconds});
    if (chance(random, percentAbsurd)) {
      samples.back().seconds = absurd(random);
      samples.back().transferSeconds = absurd(random);
    }
    at += count;
  }
  return samples;
}

void expectOnSimplex(std::span<const double> shares, const char* name) {
  double sum = 0;
  for (const double x : shares) {
    EXPECT_TRUE(std::isfinite(x)) << name;
    EXPECT_GE(x, 0) << name;
    sum += x;
  }
  EXPECT_NEAR(sum, 1, 1e-9) << name;
}

TEST(SolverProperty, sharesStayOnTheSimplexWhateverTheTimings) {
  forEachSeed(100, [](std::mt19937& random) {
    const auto devices = static_cast<std::size_t>(pick(random, 1, 16));
    for (const Method& method : methods()) {
      const auto solver = method.make(devices);
      std::uint64_t groups = static_cast<std::uint64_t>(pick(random, 1, 5000));
      for (int launch = 0; launch < 20; ++launch) {
        expectOnSimplex(solver->propose(), method.name);
        ASSERT_EQ(solver->propose().size(), devices);
        if (chance(random, 10))
          groups = static_cast<std::uint64_t>(pick(random, 1, 5000));
        solver->observe(randomSamples(random, *solver, groups, 30), groups);
      }
    }
  });
}

TEST(SolverProperty, samplesThatMakeNoSenseAtAllAreSurvived) {
  forEachSeed(200, [](std::mt19937& random) {
    const auto devices = static_cast<std::size_t>(pick(random, 1, 5));
    for (const Method& method : methods()) {
      const auto solver = method.make(devices);
      for (int launch = 0; launch < 10; ++launch) {
        std::vector<DeviceSample> samples(static_cast<std::size_t>(pick(random, 0, 6)));
        for (DeviceSample& s : samples)
          s = {random(), random(), absurd(random), absurd(random)};
        solver->observe(samples, chance(random, 30) ? 0 : random());
        std::vector<ChunkSample> chunks(static_cast<std::size_t>(pick(random, 0, 6)));
        for (ChunkSample& c : chunks)
          c = {static_cast<unsigned>(pick(random, 0, 7)), random(), random(), absurd(random)};
        solver->observeChunks(chunks, random());
        expectOnSimplex(solver->propose(), method.name);
      }
    }
  });
}

TEST(SolverProperty, theSameObservationsGiveTheSameProposals) {
  forEachSeed(50, [](std::mt19937& random) {
    for (const Method& method : methods()) {
      const auto a = method.make(3);
      const auto b = method.make(3);
      for (int launch = 0; launch < 15; ++launch) {
        const auto samples = randomSamples(random, *a, 700, 5);
        a->observe(samples, 700);
        b->observe(samples, 700);
        for (std::size_t i = 0; i < 3; ++i)
          EXPECT_EQ(a->propose()[i], b->propose()[i]) << method.name;
      }
    }
  });
}

TEST(SolverProperty, chunksCoverTheLaunchOnceWhateverTheTimings) {
  forEachSeed(500, [](std::mt19937& random) {
    const auto devices = static_cast<unsigned>(pick(random, 1, 16));
    const auto total = static_cast<std::uint64_t>(pick(random, 1, 3000));
    const auto granularity = static_cast<std::uint64_t>(pick(random, 1, 9));
    ChunkPlan plan(devices);
    std::vector<std::uint64_t> fill(devices);
    for (std::uint64_t& groups : fill)
      groups = static_cast<std::uint64_t>(pick(random, 0, 200));
    const double leastSeconds = chance(random, 50) ? 0 : absurd(random);
    plan.begin(total, granularity, {}, {leastSeconds, fill});
    std::uint64_t next = 0;
    if (chance(random, 20)) {
      const GroupRange taken =
          plan.take(0, granularity * static_cast<std::uint64_t>(pick(random, 0, 400)));
      next = taken.end;
    }
    std::vector<bool> done(devices, false);
    unsigned left = devices;
    while (left > 0) {
      const auto device = static_cast<unsigned>(pick(random, 0, devices - 1));
      if (done[device])
        continue;
      const GroupRange range = plan.next(device);
      if (range.empty()) {
        done[device] = true;
        --left;
        continue;
      }
      EXPECT_EQ(range.begin, next);
      EXPECT_TRUE(range.end == total || range.size() % granularity == 0);
      next = range.end;
      plan.finish(device, range, chance(random, 20) ? absurd(random) : 1e-3);
    }
    EXPECT_EQ(next, total);
    EXPECT_EQ(plan.remaining(), 0u);
  });
}

/// A cycle of kernels, a part of whose numbers makes no sense.
std::vector<LoadProfile> randomProfiles(std::mt19937& random, std::size_t kernels,
                                        std::size_t devices, int percentAbsurd) {
  std::vector<LoadProfile> profiles(kernels);
  for (LoadProfile& profile : profiles) {
    for (std::size_t d = 0; d < devices; ++d) {
      profile.fixed.push_back(chance(random, percentAbsurd) ? absurd(random) : 0.01);
      profile.whole.push_back(chance(random, percentAbsurd)
                                  ? absurd(random)
                                  : std::uniform_real_distribution<double>(0.1, 2)(random));
    }
    if (chance(random, 30))
      profile.work = {0, chance(random, percentAbsurd) ? absurd(random) : 0.3, 1};
  }
  return profiles;
}

TEST(SolverProperty, jointSharesStayOnTheSimplexAreReproducibleAndNoWorse) {
  forEachSeed(60, [](std::mt19937& random) {
    const auto kernels = static_cast<std::size_t>(pick(random, 1, 4));
    const auto devices = static_cast<std::size_t>(pick(random, 1, 4));
    const int percentAbsurd = chance(random, 50) ? 0 : 30;
    const auto profiles = randomProfiles(random, kernels, devices, percentAbsurd);
    std::vector<CycleLink> links;
    for (std::size_t k = 0; k < kernels; ++k)
      links.push_back({k, (k + 1) % kernels,
                       chance(random, percentAbsurd)
                           ? absurd(random)
                           : std::uniform_real_distribution<double>(0, 1)(random)});
    const std::vector<std::vector<double>> own(
        kernels, std::vector<double>(devices, 1.0 / static_cast<double>(devices)));
    const CycleShares joint = balanceCycle(profiles, links, own);
    ASSERT_EQ(joint.shares.size(), kernels);
    for (const auto& shares : joint.shares)
      expectOnSimplex(shares, "joint");
    EXPECT_EQ(balanceCycle(profiles, links, own).shares, joint.shares);
    if (percentAbsurd == 0) {
      EXPECT_LE(joint.seconds, cycleSeconds(profiles, links, own) * (1 + 1e-9));
    }
  });
}

#ifdef COUNTS_ALLOCATIONS
TEST(SolverProperty, watchingForACycleAllocatesNothing) {
  CycleDetector detector;
  const std::size_t before = allocations;
  for (std::uint64_t i = 0; i < 1000; ++i)
    detector.next(i % 7);
  EXPECT_EQ(allocations, before);
}

TEST(SolverProperty, nothingIsAllocatedOnceWarm) {
  for (const Method& method : methods()) {
    std::mt19937 random(1);
    const auto solver = method.make(5);
    std::vector<std::vector<DeviceSample>> launches;
    for (int launch = 0; launch < 50; ++launch) {
      launches.push_back(randomSamples(random, *solver, 3000, 5));
      solver->observe(launches.back(), 3000);
    }
    std::vector<std::uint64_t> groups(5);
    const std::size_t before = allocations;
    ASSERT_GT(before, 0u) << "allocations are not counted";
    for (const auto& samples : launches) {
      solver->observe(samples, 3000);
      roundToGroups(solver->propose(), 3000, 1, groups);
    }
    EXPECT_EQ(allocations, before) << method.name;
  }
}
#endif

} // namespace
} // namespace libsplit::solver
