#include "runtime/cost/trial_budget.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {

namespace {

constexpr double shortSeconds = 300e-6, look = 500e-6;

TrialBudget::Clock::time_point at(double seconds) {
  return TrialBudget::Clock::time_point{} +
         std::chrono::duration_cast<TrialBudget::Clock::duration>(
             std::chrono::duration<double>(1000 + seconds));
}

TEST(TrialBudget, LetsAFewLaunchesBeLookedAtInTheBeginning) {
  TrialBudget budget;
  int looks = 0;
  for (; !budget.rests(64, at(0)); ++looks)
    budget.spend(look, 64, shortSeconds, at(0));
  EXPECT_EQ(looks, 7); // the seventh goes beyond 3 ms
}

TEST(TrialBudget, GivesAHundredthOfWhatPasses) {
  TrialBudget budget;
  int looks = 0;
  for (int i = 0; i < 100000; ++i) // a second of launches of 10 µs
    if (const auto now = at(i * 10e-6); !budget.rests(64, now)) {
      budget.spend(look, 64, shortSeconds, now);
      ++looks;
    }
  EXPECT_GE(looks, 20);
  EXPECT_LE(looks, 30);
}

TEST(TrialBudget, GivesEverLessToWhatIsShortForLong) {
  TrialBudget budget;
  int first = 0, last = 0;
  for (int i = 0; i < 100000; ++i) // 100 s of launches of 1 ms
    if (const auto now = at(i * 1e-3); !budget.rests(64, now)) {
      budget.spend(look, 64, shortSeconds, now);
      ++(i < 10000 ? first : last);
    }
  EXPECT_GE(first, 50);
  EXPECT_GE(last, 50);
  EXPECT_LE(first + last, 250); // of 100,000
  budget.spend(1e6, 64, shortSeconds, at(100));
  EXPECT_TRUE(budget.rests(64, at(1e6)));
}

TEST(TrialBudget, LooksAtNDRangesThatAreMuchLarger) {
  TrialBudget budget;
  budget.spend(1, 64, shortSeconds, at(0));
  EXPECT_TRUE(budget.rests(64, at(1)));
  EXPECT_TRUE(budget.rests(255, at(1)));
  EXPECT_FALSE(budget.rests(256, at(1)));
}

TEST(TrialBudget, LooksAtEachWhereNoneIsTooShort) {
  TrialBudget budget;
  budget.spend(1, 64, 0, at(0));
  EXPECT_FALSE(budget.rests(64, at(0)));
}

} // namespace

} // namespace libsplit::runtime
