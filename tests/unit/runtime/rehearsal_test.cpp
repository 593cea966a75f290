#include "runtime/cost/rehearsal.h"

#include <gtest/gtest.h>

#include <vector>

namespace libsplit::runtime {
namespace {

/// Of a matrix product on two GPUs: 512 rows of 512 groups.
constexpr Rehearsal::Launch product{262144, 512, 0.13};
constexpr std::uint64_t cores = 32;

/// Groups that a device rehearses, `eachSeconds` per group and core, until that is over.
std::vector<std::uint64_t> rehearse(Rehearsal& rehearsal, const Rehearsal::Launch& launch,
                                    double eachSeconds, double firstSeconds = 0) {
  std::vector<std::uint64_t> tried;
  while (const std::uint64_t groups = rehearsal.next(launch, cores)) {
    rehearsal.begins();
    EXPECT_EQ(rehearsal.next(launch, cores), 0U) << "one at a time";
    const auto rounds = static_cast<double>((groups + cores - 1) / cores);
    rehearsal.took(groups, rounds * eachSeconds + (tried.empty() ? firstSeconds : 0), launch,
                   cores);
    tried.push_back(groups);
  }
  EXPECT_TRUE(rehearsal.isOver());
  return tried;
}

TEST(Rehearsal, WhoIsHopelessDoesOneGroupTwice) {
  Rehearsal rehearsal;
  EXPECT_EQ(rehearse(rehearsal, product, 0.4), (std::vector<std::uint64_t>{1, 1}));
  EXPECT_FALSE(rehearsal.joins());
}

TEST(Rehearsal, WhoIsWorthItFillsTheDeviceAndJoins) {
  Rehearsal rehearsal;
  EXPECT_EQ(rehearse(rehearsal, product, 0.5e-3), (std::vector<std::uint64_t>{1, 1, 8, 32}));
  EXPECT_TRUE(rehearsal.joins());
  EXPECT_NEAR(rehearsal.rate(), 64000, 1);
}

TEST(Rehearsal, WhatIsCompiledForTheFirstSaysNothing) {
  Rehearsal rehearsal;
  rehearse(rehearsal, product, 0.5e-3, 2);
  EXPECT_TRUE(rehearsal.joins());
}

TEST(Rehearsal, WhatBrokeOffIsTriedAgain) {
  Rehearsal rehearsal;
  rehearsal.begins();
  rehearsal.breaksOff();
  EXPECT_EQ(rehearse(rehearsal, product, 0.5e-3), (std::vector<std::uint64_t>{1, 1, 8, 32}));
}

TEST(Rehearsal, AnImpossibleTimeIsTriedAgain) {
  Rehearsal rehearsal;
  rehearsal.begins();
  rehearsal.took(1, 0, product, cores);
  EXPECT_EQ(rehearsal.next(product, cores), 1U);
}

TEST(Rehearsal, ALeastPieceThatTakesLongerThanAllIsTooMuch) {
  // A tenth of the work, but the whole of it is only cut in halves.
  const Rehearsal::Launch coarse{64, 32, 1};
  EXPECT_FALSE(Rehearsal::isWorthIt(8, coarse));
  EXPECT_TRUE(Rehearsal::isWorthIt(8, {64, 1, 1}));
}

TEST(Rehearsal, AGroupThatTakesLongerThanAllIsTooMuch) {
  Rehearsal rehearsal;
  const Rehearsal::Launch few{8, 1, 0.33};
  EXPECT_EQ(rehearse(rehearsal, few, 0.5), (std::vector<std::uint64_t>{1, 1}));
  EXPECT_FALSE(rehearsal.joins());
}

TEST(Rehearsal, AFewGroupsAreAllThatCanBeTried) {
  Rehearsal rehearsal;
  const Rehearsal::Launch small{4, 1, 0.1};
  EXPECT_EQ(rehearse(rehearsal, small, 0.05), (std::vector<std::uint64_t>{1, 1, 4}));
  EXPECT_TRUE(rehearsal.joins());
}

} // namespace
} // namespace libsplit::runtime
