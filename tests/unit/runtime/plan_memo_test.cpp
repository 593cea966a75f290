#include "runtime/cost/plan_memo.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

PlanKey keyOf(std::size_t number) {
  PlanKey key;
  key.range.global[0] = 64;
  key.values = {std::byte(number), std::byte(number >> 8)};
  key.groups = {32, 32};
  return key;
}

MadePlan planOf(std::size_t number, std::size_t ranges = 1) {
  auto plan = std::make_shared<LaunchPlan>();
  plan->dimension = static_cast<unsigned>(number);
  PieceUse use;
  for (std::size_t i = 0; i < ranges; ++i)
    use.needs.add({2 * i, 2 * i + 1});
  plan->pieces.push_back({0, {}, {std::move(use)}});
  return {std::move(plan), {}};
}

TEST(PlanMemo, comesBackToEachOfManyShapes) {
  PlanMemo memo;
  constexpr std::size_t shapes = 500;
  for (std::size_t i = 0; i < shapes; ++i)
    memo.keep(keyOf(i), planOf(i));
  for (std::size_t i = 0; i < shapes; ++i) {
    const MadePlan* made = memo.find(keyOf(i));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->plan->dimension, i);
  }
  PlanKey other = keyOf(3);
  other.groups = {30, 34};
  EXPECT_FALSE(memo.find(other));
}

TEST(PlanMemo, forgetsTheLongestUnusedWherePlansTakeMuchRoom) {
  PlanMemo memo;
  const std::size_t large = PlanMemo::capacity / 3;
  for (std::size_t i = 0; i < 12; ++i) {
    memo.keep(keyOf(i), planOf(i, large));
    EXPECT_TRUE(memo.find(keyOf(0)));
  }
  EXPECT_EQ(memo.size(), PlanMemo::always);
  EXPECT_FALSE(memo.find(keyOf(5)));
  EXPECT_TRUE(memo.find(keyOf(11)));
}

TEST(PlanMemo, remembersThatThereIsNone) {
  PlanMemo memo;
  memo.keep(keyOf(1), {nullptr, "why"});
  ASSERT_TRUE(memo.find(keyOf(1)));
  EXPECT_EQ(memo.find(keyOf(1))->whyNone, "why");
  memo.keep(keyOf(1), planOf(1));
  EXPECT_TRUE(memo.find(keyOf(1))->plan);
  EXPECT_EQ(memo.size(), 1u);
}

TEST(DecidingScalars, areThoseThatPlacesConditionsAndCountsName) {
  KernelSummary summary;
  summary.parameters.resize(5);
  Access access;
  access.offset = Expr::argument(1, 32, true) * Expr::constant(4);
  access.guards.push_back({Expr::id(Expr::Op::GlobalId, 0), Guard::Relation::Less,
                           Expr::argument(2, 32, true), /*isInspected=*/true});
  access.loops.push_back({Expr::argument(3, 64, false)});
  summary.accesses = {access};
  EXPECT_EQ(decidingScalars(summary), (std::vector<bool>{false, true, true, true, false}));
}

} // namespace
} // namespace libsplit::runtime
