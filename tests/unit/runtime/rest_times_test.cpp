#include "runtime/cost/rest_times.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

RestTimes after(std::initializer_list<double> home, std::initializer_list<double> split) {
  RestTimes rests;
  for (const double seconds : home)
    rests.passed(false, seconds);
  for (const double seconds : split)
    rests.passed(true, seconds);
  return rests;
}

TEST(RestTimes, TellWhatReadingFromSeveralMemoriesCosts) {
  EXPECT_NEAR(after({0.002, 0.002}, {0.022, 0.022}).splitCosts(), 0.020, 1e-9);
}

TEST(RestTimes, KnowNothingFromOneLaunch) {
  EXPECT_EQ(after({0.002}, {0.022, 0.022}).splitCosts(), 0);
  EXPECT_EQ(after({0.002, 0.002}, {0.022}).splitCosts(), 0);
}

TEST(RestTimes, MayBeAllForSplittingWhileHomeIsNotKnown) {
  EXPECT_NEAR(after({}, {0.023, 0.022}).mostSplitCosts(), 0.022, 1e-9);
  EXPECT_NEAR(after({0.002, 0.002}, {0.023, 0.022}).mostSplitCosts(), 0.020, 1e-9);
  EXPECT_EQ(after({}, {0.022}).mostSplitCosts(), 0);
}

TEST(RestTimes, TakeTheProgramsOwnWorkForNoCost) {
  EXPECT_EQ(after({0.010, 0.002, 0.007}, {0.011, 0.003, 0.008}).splitCosts(), 0);
  EXPECT_EQ(after({0.010, 0.010}, {0.005, 0.005}).splitCosts(), 0);
}

TEST(RestTimes, ForgetWhatWasOnce) {
  RestTimes rests = after({0.002, 0.002, 0.002}, {0.022, 0.022, 0.022, 0.022, 0.022});
  for (int i = 0; i < 5; ++i)
    rests.passed(true, 0.002); // it reads no more
  EXPECT_EQ(rests.splitCosts(), 0);
}

} // namespace
} // namespace libsplit::runtime
