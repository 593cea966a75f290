#include "runtime/cost/moving_rate.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

TEST(MovingRate, GuessesUntilBytesHaveMoved) {
  MovingRate rate;
  EXPECT_EQ(rate.perByte(), 0);
  EXPECT_GT(rate.seconds(1 << 20), 0);
  rate.note(1 << 20, 1);
  EXPECT_DOUBLE_EQ(rate.seconds(1 << 20), 1);
}

TEST(MovingRate, SmoothsWhatItSees) {
  MovingRate rate;
  rate.note(10'000, 1);
  rate.note(10'000, 2);
  EXPECT_GT(rate.seconds(10'000), 1);
  EXPECT_LT(rate.seconds(10'000), 2);
}

TEST(MovingRate, LearnsNothingFromFewBytesOrNoTime) {
  MovingRate rate;
  rate.note(100, 1);
  rate.note(1 << 20, 0);
  EXPECT_EQ(rate.perByte(), 0);
}

} // namespace
} // namespace libsplit::runtime
