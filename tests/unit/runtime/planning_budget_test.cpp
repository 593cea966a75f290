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

} // namespace
} // namespace libsplit::runtime
