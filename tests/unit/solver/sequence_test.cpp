#include "solver/sequence.h"

#include <gtest/gtest.h>

#include <random>

namespace libsplit::solver {
namespace {

std::size_t lengthAfter(const std::vector<std::uint64_t>& ids) {
  CycleDetector detector;
  std::size_t length = 0;
  for (std::uint64_t id : ids)
    length = detector.next(id);
  return length;
}

TEST(CycleDetector, findsTheShortestPeriodOnceItWasSeenThreeTimes) {
  EXPECT_EQ(lengthAfter({1, 2, 1, 2}), 0u);
  EXPECT_EQ(lengthAfter({1, 2, 1, 2, 1, 2}), 2u);
  EXPECT_EQ(lengthAfter({9, 9, 4, 1, 1, 2, 1, 1, 2, 1, 1, 2}), 3u);
  EXPECT_EQ(lengthAfter({5, 5, 5}), 1u);
}

TEST(CycleDetector, leavesACycleWhenTheLaunchesDo) {
  EXPECT_EQ(lengthAfter({1, 2, 1, 2, 1, 2, 3}), 0u);
  EXPECT_EQ(lengthAfter({1, 2, 1, 2, 1, 2, 3, 1, 2, 1, 2, 1, 2}), 2u);
}

TEST(CycleDetector, seesPeriodsUpToItsLongestAndNoneInNoise) {
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < 3 * CycleDetector::longest; ++i)
    ids.push_back(i % CycleDetector::longest);
  EXPECT_EQ(lengthAfter(ids), CycleDetector::longest);
  ids.clear();
  for (std::size_t i = 0; i < 100; ++i)
    ids.push_back(i % (CycleDetector::longest + 1));
  EXPECT_EQ(lengthAfter(ids), 0u);
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i)
    ids.push_back(random());
  EXPECT_EQ(lengthAfter(ids), 0u);
}

LoadProfile profile(double first, double second) {
  return {{0, 0}, {first, second}, {}};
}

TEST(BalanceCycle, withoutLinksEachKernelKeepsItsOwnBalance) {
  const std::vector<LoadProfile> kernels = {profile(1, 4), profile(1, 1)};
  const auto shares = balanceCycle(kernels, {}, {{0.5, 0.5}, {0.5, 0.5}});
  EXPECT_NEAR(shares.shares[0][0], 0.8, 1e-3);
  EXPECT_NEAR(shares.shares[1][0], 0.5, 1e-3);
  EXPECT_NEAR(shares.seconds, 0.8 + 0.5, 1e-3);
}

TEST(BalanceCycle, whereMovingIsDearAllKernelsAreCutAlike) {
  const std::vector<LoadProfile> kernels = {profile(1, 4), profile(1, 1)};
  const std::vector<CycleLink> links = {{0, 1, 100}, {1, 0, 100}};
  const auto shares = balanceCycle(kernels, links, {{0.8, 0.2}, {0.5, 0.5}});
  EXPECT_NEAR(shares.shares[0][0], shares.shares[1][0], 1e-4);
  // At a common cut x: max(x, 4 - 4x) + max(x, 1 - x), least at x = 0.8.
  EXPECT_NEAR(shares.seconds, 1.6, 1e-3);
}

TEST(BalanceCycle, whereMovingIsCheapCutsDiffer) {
  const std::vector<LoadProfile> kernels = {profile(1, 4), profile(1, 1)};
  const std::vector<CycleLink> links = {{0, 1, 0.01}, {1, 0, 0.01}};
  const auto shares = balanceCycle(kernels, links, {{0.5, 0.5}, {0.5, 0.5}});
  EXPECT_GT(shares.shares[0][0] - shares.shares[1][0], 0.25);
}

TEST(BalanceCycle, answersWhatItWasGivenIfThatMakesNoSense) {
  const std::vector<std::vector<double>> own = {{1, 0}};
  EXPECT_EQ(balanceCycle({}, {}, own).shares, own);
  const std::vector<LoadProfile> three = {{{0, 0, 0}, {1, 1, 1}, {}}};
  EXPECT_EQ(balanceCycle(three, {}, own).shares, own);
}

} // namespace
} // namespace libsplit::solver
