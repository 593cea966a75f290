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
  for (std::size_t i = 0; i < 4 * CycleDetector::longest; ++i)
    ids.push_back(i % (CycleDetector::longest + 1));
  EXPECT_EQ(lengthAfter(ids), 0u);
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i)
    ids.push_back(random());
  EXPECT_EQ(lengthAfter(ids), 0u);
}

TEST(CycleDetector, keepsACycleThroughWhatRepeatsWithinIt) {
  // Three sweeps of two kernels, then one of another.
  const std::vector<std::uint64_t> round = {1, 2, 1, 2, 1, 2, 3};
  CycleDetector detector;
  std::vector<std::size_t> lengths;
  for (int i = 0; i < 6; ++i)
    for (const std::uint64_t id : round)
      lengths.push_back(detector.next(id));
  EXPECT_EQ(lengths[5], 2u); // more is not known yet
  EXPECT_EQ(lengths[3 * round.size() - 1], round.size());
  for (std::size_t i = 3 * round.size(); i < lengths.size(); ++i)
    EXPECT_EQ(lengths[i], round.size()) << i;
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

TEST(BalanceCycle, cutsLongCyclesAlike) {
  constexpr std::size_t pairs = 100;
  std::vector<LoadProfile> kernels;
  std::vector<CycleLink> links;
  std::vector<std::vector<double>> own;
  for (std::size_t k = 0; k < 2 * pairs; ++k) {
    kernels.push_back(k % 2 == 0 ? profile(1, 4) : profile(1, 1));
    links.push_back({k, (k + 1) % (2 * pairs), 100});
    own.push_back(k % 2 == 0 ? std::vector{0.8, 0.2} : std::vector{0.5, 0.5});
  }
  const auto shares = balanceCycle(kernels, links, own);
  for (const std::vector<double>& each : shares.shares)
    EXPECT_NEAR(each[0], 0.8, 1e-2);
  EXPECT_NEAR(shares.seconds, pairs * 1.6, pairs * 1e-2);
}

TEST(BalanceCycle, answersWhatItWasGivenIfThatMakesNoSense) {
  const std::vector<std::vector<double>> own = {{1, 0}};
  EXPECT_EQ(balanceCycle({}, {}, own).shares, own);
  const std::vector<LoadProfile> three = {{{0, 0, 0}, {1, 1, 1}, {}}};
  EXPECT_EQ(balanceCycle(three, {}, own).shares, own);
}

} // namespace
} // namespace libsplit::solver
