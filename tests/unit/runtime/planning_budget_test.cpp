#include "runtime/cost/planning_budget.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

TEST(PlanningBudget, AffordsTheFirstPlanAndThenWhatLaunchesHaveEarned) {
  PlanningBudget budget;
  EXPECT_TRUE(budget.affords());
  budget.spend(0.1);
  EXPECT_FALSE(budget.affords());
  for (int i = 0; i < 999; ++i)
    budget.earn(0.01);
  EXPECT_FALSE(budget.affords());
  budget.earn(0.02);
  EXPECT_TRUE(budget.affords());
  budget.spend(1e-5);
  EXPECT_TRUE(budget.affords());
}

TEST(PlanningBudget, KnowsWhatAPlanTakesThatWasMadeElsewhere) {
  PlanningBudget budget;
  budget.seen(0.1);
  EXPECT_FALSE(budget.affords());
  budget.earn(5.1);
  EXPECT_TRUE(budget.affords());
}

TEST(PlanningBudget, AffordsWhatCostsLittleAfterWhatCostMuch) {
  PlanningBudget budget;
  budget.earn(60);
  budget.spend(1);
  EXPECT_FALSE(budget.affords()) << "another one like that";
  EXPECT_TRUE(budget.affords(0.1));
  EXPECT_FALSE(budget.affords(0.5));
  budget.spend(1);
  EXPECT_FALSE(budget.affords(0)) << "there are debts";
}

} // namespace
} // namespace libsplit::runtime
