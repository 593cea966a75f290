#include "analysis-pass/summary/expr.h"

#include <gtest/gtest.h>

namespace libsplit {
namespace {

using Op = Expr::Op;

const Expr g0 = Expr::id(Op::GlobalId, 0);
const Expr l1 = Expr::id(Op::LocalId, 1);
const Expr n = Expr::argument(2, 32, true);

TEST(Expr, printsAsAPersonWouldWriteIt) {
  EXPECT_EQ(toString(Expr::constant(4) * (g0 + n * l1) + Expr::constant(8)),
            "4*(G0 + arg2*L1) + 8");
  EXPECT_EQ(toString(g0 + Expr::constant(-1)), "G0 - 1");
  EXPECT_EQ(toString(Expr::wrap(g0 * n, 32, true), {"a", "b", "width"}), "i32(G0*width)");
  EXPECT_EQ(toString(Expr::node(Op::RemTrunc, {g0 + l1, n})), "(G0 + L1)%arg2");
}

TEST(Expr, constantsFold) {
  EXPECT_EQ(Expr::constant(3) + g0 + Expr::constant(-3), g0);
  EXPECT_EQ(g0 * Expr::constant(0), Expr::constant(0));
  EXPECT_EQ(Expr::node(Op::DivFloor, {Expr::constant(-7), Expr::constant(2)}), Expr::constant(-4));
  EXPECT_EQ(Expr::node(Op::DivTrunc, {Expr::constant(-7), Expr::constant(2)}), Expr::constant(-3));
  EXPECT_EQ(Expr::node(Op::RemTrunc, {Expr::constant(-7), Expr::constant(2)}), Expr::constant(-1));
}

TEST(Expr, foldingNeverOverflows) {
  const Expr big = Expr::constant(INT64_MAX);
  EXPECT_EQ((big + big).op(), Op::Add);
  EXPECT_EQ((big * big).op(), Op::Mul);
  EXPECT_EQ(Expr::node(Op::DivTrunc, {Expr::constant(INT64_MIN), Expr::constant(-1)}).op(),
            Op::DivTrunc);
  EXPECT_EQ(Expr::node(Op::DivTrunc, {g0, Expr::constant(0)}).op(), Op::DivTrunc);
}

TEST(Expr, unknownSpreadsWithItsReasonUnlessMasked) {
  const Expr loaded = Expr::unknown("index loaded from `col`", 12);
  EXPECT_EQ((loaded + g0).text(), "index loaded from `col`");
  EXPECT_EQ(Expr::wrap(loaded, 32, true).line(), 12u);
  EXPECT_EQ(Expr::node(Op::And, {loaded, Expr::constant(255)}).op(), Op::And);
}

TEST(Expr, treesBeyondTheLimitBecomeUnknown) {
  Expr e = g0;
  for (int i = 0; i < 40; ++i)
    e = e * e + l1; // doubles each time
  EXPECT_EQ(e.op(), Op::Unknown);
}

} // namespace
} // namespace libsplit
