#include "runtime/cost/moving_rate.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace libsplit::runtime {
namespace {

constexpr std::uint64_t halo = 64 << 10, block = 64 << 20;

/// Readings of a link that takes 20 us for each move and 40 ps for each byte.
double linkSeconds(std::uint64_t moves, std::uint64_t bytes) {
  return 20e-6 * static_cast<double>(moves) + 40e-12 * static_cast<double>(bytes);
}

TEST(MovingRate, GuessesUntilBytesHaveMoved) {
  MovingRate rate;
  EXPECT_EQ(rate.perByte(), 0);
  EXPECT_GT(rate.seconds(block), 0);
  EXPECT_EQ(rate.seconds(0), 0);
  rate.note(1, block, 1);
  EXPECT_NEAR(rate.seconds(block), 1, 0.02);
  EXPECT_GT(rate.perByte(), 0);
}

TEST(MovingRate, FollowsWhatItSees) {
  MovingRate rate;
  rate.note(1, block, 1);
  rate.note(1, block, 2);
  EXPECT_GT(rate.seconds(block), 1);
  EXPECT_LT(rate.seconds(block), 2);
  for (int i = 0; i < 50; ++i)
    rate.note(1, block, 2);
  EXPECT_NEAR(rate.seconds(block), 2, 0.05);
}

TEST(MovingRate, TellsMovesFromBytes) {
  MovingRate rate;
  for (int i = 0; i < 20; ++i) {
    rate.note(2, 2 * halo, linkSeconds(2, 2 * halo));
    rate.note(1, block, linkSeconds(1, block));
  }
  EXPECT_NEAR(rate.perMove(), 20e-6, 2e-6);
  EXPECT_NEAR(rate.perByte(), 40e-12, 4e-12);
}

TEST(MovingRate, DoesNotTakeHalosForTheRateOfTheLink) {
  MovingRate rate;
  for (int i = 0; i < 50; ++i)
    rate.note(2, 2 * halo, linkSeconds(2, 2 * halo));
  // Nothing has told what bytes take; but not what these took.
  EXPECT_LT(rate.seconds(block), 0.5 * linkSeconds(1, halo) / halo * block);
}

TEST(MovingRate, OneReadingOfABusyMachineSaysLittle) {
  MovingRate rate;
  for (int i = 0; i < 20; ++i)
    rate.note(1, block, linkSeconds(1, block));
  const double before = rate.seconds(block);
  rate.note(1, block, 100 * linkSeconds(1, block));
  EXPECT_LT(rate.seconds(block), 1.1 * before);
}

TEST(MovingRate, BelievesAnEarlierRunWhereNothingElseTells) {
  MovingRate rate;
  rate.begin(1e-9, 1e-3);
  EXPECT_DOUBLE_EQ(rate.perByte(), 1e-9);
  for (int i = 0; i < 20; ++i)
    rate.note(1, 1 << 30, 1e-3 + 1e-9 * (1 << 30));
  EXPECT_NEAR(rate.perMove(), 1e-3, 1e-4);
}

TEST(MovingRate, LearnsNoRateFromFewBytesOrNoTime) {
  MovingRate rate;
  rate.note(1, 100, 1);
  rate.note(1, block, 0);
  rate.note(0, 0, 1);
  EXPECT_EQ(rate.perByte(), 0);
}

} // namespace
} // namespace libsplit::runtime
