#include "analysis-pass/summary/inspection.h"

#include "analysis-pass/summary/evaluate.h"

#include <gtest/gtest.h>

namespace libsplit {
namespace {

using Op = Expr::Op;

const Expr g0 = Expr::id(Op::GlobalId, 0);
const Expr w0 = Expr::id(Op::GroupId, 0);
const Expr l0 = Expr::id(Op::LocalId, 0);
const Expr k0 = Expr::loop(0);

Expr c(std::int64_t value) {
  return Expr::constant(value);
}
Expr intAt(unsigned parameter, const Expr& element) {
  return Expr::load(parameter, c(4) * element, 32, true);
}

Access accessAt(const Expr& element) {
  Access access;
  access.offset = Expr::wrap(c(4) * element, 64, true);
  access.length = 4;
  return access;
}
bool wants(const Expr& element) {
  return wantsInspection(accessAt(element));
}

TEST(WantsInspection, notWhereNothingIsLoaded) {
  EXPECT_FALSE(wants(g0));
  EXPECT_FALSE(wants(Expr::node(Op::RemTrunc, {g0, c(7)})));
}

TEST(WantsInspection, notWhereTheExtremesOfASliceTellAll) {
  EXPECT_FALSE(wants(intAt(1, g0)));
  EXPECT_FALSE(wants(intAt(1, g0 + c(3)) + c(5)));
  EXPECT_FALSE(wants(intAt(1, w0) + l0));
  EXPECT_FALSE(wants(c(16) * intAt(1, g0) + k0));
  EXPECT_FALSE(wants(intAt(1, c(0)) + g0)) << "one element, the same for all";
  EXPECT_FALSE(wants(Expr::node(Op::Min, {intAt(1, g0), c(100)})));
  EXPECT_FALSE(wants(Expr::node(Op::DivFloor, {intAt(1, g0), c(8)})));
}

TEST(WantsInspection, notAlongRowsThoughTheirBoundsAreLoaded) {
  Access row = accessAt(intAt(1, intAt(2, g0) + k0)); // x[column[begin[i] + k]]
  row.loops = {{intAt(2, g0 + c(1)) + c(-1) * intAt(2, g0)}};
  EXPECT_FALSE(wantsInspection(row));
}

TEST(WantsInspection, whereElementsAreFoundByElements) {
  EXPECT_TRUE(wants(intAt(1, intAt(2, g0))));
  EXPECT_TRUE(wants(intAt(1, intAt(2, w0)) + l0));
  Access row = accessAt(intAt(1, intAt(3, g0)) + k0); // value[begin[order[i]] + k]
  EXPECT_TRUE(wantsInspection(row));
  row = accessAt(intAt(4, g0) + k0);
  row.loops = {{intAt(1, intAt(3, g0))}};
  EXPECT_TRUE(wantsInspection(row)) << "the loop's length";
}

TEST(WantsInspection, whereElementsMeetEachOtherOrIds) {
  EXPECT_TRUE(wants(intAt(1, g0) * intAt(2, g0)));
  EXPECT_TRUE(wants(intAt(1, g0) + intAt(2, g0)));
  EXPECT_TRUE(wants(intAt(1, g0) + g0));
  EXPECT_TRUE(wants(intAt(1, g0) + l0)) << "the same item decides both";
  EXPECT_TRUE(wants(intAt(1, g0) * g0));
}

TEST(WantsInspection, whereTheOrderOfElementsIsLost) {
  EXPECT_TRUE(wants(Expr::node(Op::And, {intAt(1, g0), c(255)})));
  EXPECT_TRUE(wants(Expr::node(Op::RemTrunc, {intAt(1, g0), c(255)})));
  EXPECT_TRUE(wants(Expr::node(Op::Select, {intAt(1, g0), c(0), intAt(1, g0), intAt(2, g0)})));
}

TEST(WantsInspection, whereAConditionOnElementsDecides) {
  Access present = accessAt(intAt(1, g0));
  present.guards = {{c(0), Guard::Relation::LessEqual, intAt(1, g0), true}};
  EXPECT_TRUE(wantsInspection(present));
  Access inPlace = accessAt(g0);
  inPlace.guards = present.guards;
  EXPECT_FALSE(wantsInspection(inPlace)) << "its place depends on no data";
}

TEST(WantsInspection, notWhereItCanNotBeEvaluated) {
  const Expr nested = intAt(1, intAt(2, g0));
  Access update = accessAt(nested);
  update.effect = Effect::Update;
  EXPECT_FALSE(wantsInspection(update));
  EXPECT_FALSE(wants(nested + Expr::node(Op::And, {Expr::unknown("?"), c(7)})));
  Access unknownLoop = accessAt(nested + k0);
  unknownLoop.loops = {{Expr::unknown("?"), false}};
  EXPECT_FALSE(wantsInspection(unknownLoop));
  Access endless = accessAt(nested);
  endless.length = std::uint64_t{1} << 40;
  EXPECT_FALSE(wantsInspection(endless));
}

/// Says of access 0 what the test wants.
class Inspected : public Contents {
public:
  explicit Inspected(std::optional<Interval> bytes) : bytes_(bytes) {}
  std::optional<Interval> values(const ElementSlice&) override { return Interval{0, 9}; }
  std::optional<Interval> touched(const KernelSummary&, std::size_t access,
                                  const GroupBox& box) override {
    asked = box;
    return access == 0 ? bytes_ : std::nullopt;
  }
  GroupBox asked;

private:
  std::optional<Interval> bytes_;
};

ArgumentRegions regionsOf(Effect effect, Contents& contents) {
  KernelSummary kernel;
  kernel.parameters.resize(2, {"a", "int*", ParameterKind::GlobalBuffer, 0});
  kernel.accesses = {accessAt(intAt(1, g0))};
  kernel.accesses[0].effect = effect;
  kernel.accesses[0].certain = effect == Effect::Write;
  const NDRange range{1, {}, {8, 1, 1}, {1, 1, 1}};
  const ArgumentValue arguments[] = {{{}, 100}, {{}, 32}};
  return evaluate(kernel, range, arguments, {{2, 0, 0}, {50, 1, 1}}, 65536, &contents)[0];
}

TEST(EvaluateInspected, takesWhatWasSeenCutToTheBuffer) {
  Inspected seen(Interval{-4, 11});
  EXPECT_EQ(toString(regionsOf(Effect::Read, seen).reads), "[0,12)");
  EXPECT_EQ(seen.asked, (GroupBox{{2, 0, 0}, {8, 1, 1}})) << "only groups that are there";
  Inspected beyond(Interval{90, 300});
  EXPECT_EQ(toString(regionsOf(Effect::Read, beyond).reads), "[90,100)");
  Inspected nowhere(nothing);
  EXPECT_TRUE(regionsOf(Effect::Read, nowhere).reads.empty());
}

TEST(EvaluateInspected, writesAreNeverCertain) {
  Inspected seen(Interval{8, 11});
  const ArgumentRegions regions = regionsOf(Effect::Write, seen);
  EXPECT_EQ(toString(regions.possibleWrites), "[8,12)");
  EXPECT_TRUE(regions.certainWrites.empty());
}

TEST(EvaluateInspected, fallsBackOnExtremes) {
  Inspected unknown(std::nullopt);
  EXPECT_EQ(toString(regionsOf(Effect::Read, unknown).reads), "[0,40)");
}

TEST(EvaluateInspected, conditionsForInspectionsNarrowNothingElseAndLeaveNothingCertain) {
  KernelSummary kernel;
  kernel.parameters.resize(1, {"a", "int*", ParameterKind::GlobalBuffer, 0});
  kernel.accesses = {accessAt(g0)};
  kernel.accesses[0].effect = Effect::Write;
  kernel.accesses[0].certain = true;
  kernel.accesses[0].guards = {{g0, Guard::Relation::Less, c(3), true}};
  const NDRange range{1, {}, {8, 1, 1}, {1, 1, 1}};
  const ArgumentValue arguments[] = {{{}, 100}};
  const auto regions = evaluate(kernel, range, arguments, wholeBox(range));
  EXPECT_EQ(toString(regions[0].possibleWrites), "[0,32)");
  EXPECT_TRUE(regions[0].certainWrites.empty());
}

TEST(IsAffineIn, sumsAndMultiplesOfTheVariableThatIsNotLoadedBy) {
  auto isK = [](const Expr& leaf) { return leaf.op() == Op::LoopVariable; };
  EXPECT_TRUE(isAffineIn(Expr::wrap(intAt(1, g0) * k0 + g0, 32, true), isK));
  EXPECT_TRUE(isAffineIn(intAt(1, g0), isK));
  EXPECT_FALSE(isAffineIn(intAt(1, k0), isK));
  EXPECT_FALSE(isAffineIn(k0 * k0, isK));
  EXPECT_FALSE(isAffineIn(Expr::node(Op::RemTrunc, {k0, c(3)}), isK));
}

} // namespace
} // namespace libsplit
