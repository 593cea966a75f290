#include "runtime/cost/start_skew.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

TEST(StartSkew, KnowsNothingByOneLaunchWhichMayHaveBeenHeldUp) {
  StartSkew skew;
  EXPECT_EQ(skew.of(1), 0);
  skew.note(1, 0.5);
  EXPECT_EQ(skew.of(1), 0);
  skew.note(1, 20e-6);
  EXPECT_EQ(skew.of(1), 20e-6);
}

TEST(StartSkew, TakesWhatIsUsualOfTheLatest) {
  StartSkew skew;
  for (int launch = 0; launch < 40; ++launch)
    skew.note(2, launch % 3 == 0 ? 1e-3 : 10e-6);
  EXPECT_EQ(skew.of(2), 10e-6);
  EXPECT_EQ(skew.of(0), 0);
  for (int launch = 0; launch < 16; ++launch)
    skew.note(2, 30e-6);
  EXPECT_EQ(skew.of(2), 30e-6);
}

TEST(StartSkew, NobodyBeginsBeforeTheFirst) {
  StartSkew skew;
  skew.note(0, -1);
  skew.note(0, -1);
  EXPECT_EQ(skew.of(0), 0);
}

} // namespace
} // namespace libsplit::runtime
