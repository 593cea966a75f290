#include "runtime/plan/urgency.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

/// Of so many exchanges, which are late unless they are computed first, how many are not.
int notFirst(Urgency& urgency, int count) {
  int whole = 0;
  for (int i = 0; i < count; ++i) {
    whole += urgency.isUrgent() ? 0 : 1;
    urgency.wanted([&] { return !urgency.isUrgent(); });
  }
  return whole;
}

TEST(Urgency, WhatIsLateIsComputedFirstAndEverMoreRarelyNot) {
  Urgency urgency;
  EXPECT_EQ(notFirst(urgency, 4), 4);
  EXPECT_TRUE(urgency.isUrgent());
  EXPECT_EQ(notFirst(urgency, 10000), 28) << "four after 64, 128, ... 4096";
}

TEST(Urgency, WhatIsInTimeIsNot) {
  Urgency urgency;
  for (int i = 0; i < 1000; ++i) {
    urgency.wanted([&] { return i % 20 == 0; }); // the system held one up
    ASSERT_FALSE(urgency.isUrgent());
  }
}

TEST(Urgency, AProgramThatWaitsForEveryTwentiethLaunchIsInAHurry) {
  Urgency urgency;
  int whole = 0;
  for (int i = 0; i < 2000; ++i) {
    whole += urgency.isUrgent() ? 0 : 1;
    urgency.wanted([&] { return i % 20 != 0; });
  }
  EXPECT_LT(whole, 30);
}

TEST(Urgency, EndsWhereTheProgramBeginsToPause) {
  Urgency urgency;
  EXPECT_LT(notFirst(urgency, 5000), 40);
  unsigned asked = 0;
  for (int i = 0; i < 5000; ++i)
    urgency.wanted([&] { return ++asked == 0; });
  EXPECT_FALSE(urgency.isUrgent());
  EXPECT_LT(asked, 5000 / 7) << "to ask takes a call of the driver";
  EXPECT_LT(notFirst(urgency, 130), 66) << "and begins to be in a hurry again";
}

} // namespace
} // namespace libsplit::runtime
