#include "analysis-pass/summary/evaluate.h"

#include <gtest/gtest.h>

namespace libsplit {
namespace {

using Op = Expr::Op;
using Relation = Guard::Relation;

const Expr g0 = Expr::id(Op::GlobalId, 0);
const Expr g1 = Expr::id(Op::GlobalId, 1);
const Expr l0 = Expr::id(Op::LocalId, 0);
const Expr w0 = Expr::id(Op::GroupId, 0);
const Expr n = Expr::argument(1, 32, true);

Expr c(std::int64_t value) {
  return Expr::constant(value);
}

Access read(Expr offset, std::vector<Guard> guards = {}, std::vector<Loop> loops = {}) {
  Access access;
  access.offset = std::move(offset);
  access.length = 4;
  access.guards = std::move(guards);
  access.loops = std::move(loops);
  return access;
}

Access write(Expr offset, std::vector<Guard> guards = {}) {
  Access access = read(std::move(offset), std::move(guards));
  access.effect = Effect::Write;
  access.certain = true;
  return access;
}

/// The regions of one buffer of `size` bytes; argument 1 is the int `scalar`.
ArgumentRegions regions(std::vector<Access> accesses, const NDRange& range, const GroupBox& box,
                        std::int32_t scalar = 0, std::uint64_t size = 1 << 20,
                        std::size_t maxRanges = 65536) {
  KernelSummary kernel;
  kernel.parameters = {{"a", "int*", ParameterKind::GlobalBuffer, 0},
                       {"n", "int", ParameterKind::Scalar, 4}};
  kernel.accesses = std::move(accesses);
  const std::vector<ArgumentValue> arguments = {{{}, size},
                                                {std::as_bytes(std::span(&scalar, 1)), 0}};
  return evaluate(kernel, range, arguments, box, maxRanges)[0];
}

const NDRange line{1, {}, {16, 1, 1}, {4, 1, 1}};
const NDRange square{2, {}, {8, 8, 1}, {4, 4, 1}};

TEST(Evaluate, aGuardedVectorWriteIsCertainUpToTheGuard) {
  const auto r =
      regions({write(c(4) * g0, {{g0, Relation::Less, n}})}, line, slab(line, 0, 1, 3), 10);
  EXPECT_EQ(toString(r.certainWrites), "[16,40)");
  EXPECT_EQ(r.possibleWrites, r.certainWrites);
  EXPECT_TRUE(r.reads.empty());
}

/// More elements than there may be ranges: together they are one.
TEST(Evaluate, fieldsOfOneElementAreEvaluatedTogether) {
  std::vector<Access> fields;
  for (const int field : {2, 0, 1})
    fields.push_back(write(c(4) * Expr::wrap(c(3) * g0 + c(field), 32, true)));
  auto r = regions(fields, line, slab(line, 0, 1, 3), 0, 1 << 20, 4);
  EXPECT_EQ(toString(r.certainWrites), "[48,144)");
  EXPECT_EQ(r.possibleWrites, r.certainWrites);

  fields.pop_back(); // the middle one
  r = regions(fields, line, slab(line, 0, 1, 3), 0, 1 << 20, 4);
  EXPECT_TRUE(r.certainWrites.empty());
  EXPECT_EQ(toString(r.possibleWrites), "[48,144)");
}

TEST(Evaluate, fieldsUnderOtherConditionsAreNotTakenForOne) {
  const auto r = regions({write(c(8) * g0), write(c(8) * g0 + c(4), {{g0, Relation::Less, n}})},
                         line, slab(line, 0, 0, 4), 2);
  EXPECT_EQ(toString(r.certainWrites), "[0,20) [24,28) [32,36) [40,44) [48,52) [56,60) [64,68) "
                                       "[72,76) [80,84) [88,92) [96,100) [104,108) [112,116) "
                                       "[120,124)");
}

TEST(Evaluate, columnsOfAMatrixAreOneRangePerRow) {
  const auto r = regions({write(c(4) * (g1 * n + g0))}, square, slab(square, 0, 1, 2), 8, 96);
  EXPECT_EQ(toString(r.certainWrites), "[16,32) [48,64) [80,96)");
}

TEST(Evaluate, aStencilReadsOneHaloRowOnEachSide) {
  std::vector<Access> accesses;
  for (const int dy : {-1, 0, 1})
    accesses.push_back(read(c(4) * ((g1 + c(dy)) * c(8) + g0),
                            {{c(0), Relation::Less, g1}, {g1 + c(1), Relation::Less, c(8)}}));
  EXPECT_EQ(toString(regions(accesses, square, slab(square, 1, 0, 1)).reads), "[0,160)");
  EXPECT_EQ(toString(regions(accesses, square, slab(square, 1, 1, 2)).reads), "[96,256)");
}

TEST(Evaluate, oneWritePerGroupIsCertain) {
  const auto r =
      regions({write(c(4) * w0, {{l0, Relation::Equal, c(0)}})}, line, slab(line, 0, 1, 3));
  EXPECT_EQ(toString(r.certainWrites), "[4,12)");
}

TEST(Evaluate, groupTimesSizePlusLocalIsTheGlobalId) {
  const Expr id = w0 * Expr::id(Op::LocalSize, 0) + l0;
  const NDRange ragged{1, {}, {14, 1, 1}, {4, 1, 1}};
  EXPECT_EQ(toString(regions({write(c(4) * g0)}, ragged, wholeBox(ragged)).certainWrites),
            "[0,56)");
  // In the last group get_local_size is 2, and 3 * 2 + l is not the global id.
  EXPECT_EQ(toString(regions({write(c(4) * id)}, ragged, slab(ragged, 0, 3, 4)).certainWrites),
            "[24,32)");
}

TEST(Evaluate, aLoopOverTheRowReadsTheRow) {
  const auto r = regions({read(c(4) * (g0 * n + Expr::loop(0)), {}, {{n, true}})}, line,
                         slab(line, 0, 2, 3), 5);
  EXPECT_EQ(toString(r.reads), "[160,240)");
}

TEST(Evaluate, aTriangularLoopIsExact) {
  Access access = write(c(4) * Expr::loop(0));
  access.loops = {{g0, true}};
  const auto r = regions({access}, line, slab(line, 0, 1, 2));
  EXPECT_EQ(toString(r.possibleWrites), "[0,28)");
  EXPECT_EQ(r.certainWrites, r.possibleWrites);
}

/// Possible and certain writes to a matrix of `side` rows by work-groups [begin, end) of 16
/// columns, as symmetric matrices are written: m[j][k] and m[k][j] for k = j .. side - 1.
ArgumentRegions symmetricWrites(std::int32_t side, std::uint64_t begin, std::uint64_t end) {
  const auto items = static_cast<std::uint64_t>(side);
  const NDRange columns{1, {}, {items, 1, 1}, {16, 1, 1}};
  const Expr k = g0 + Expr::loop(0);
  Access row = write(c(4) * (g0 * n + k)), column = write(c(4) * (k * n + g0));
  row.loops = column.loops = {{n + c(-1) * g0, true}};
  return regions({row, column}, columns, slab(columns, 0, begin, end), side, 4 * items * items);
}

TEST(Evaluate, aSymmetricMatrixIsExact) {
  const ArgumentRegions first = symmetricWrites(1024, 0, 32);
  EXPECT_EQ(first.possibleWrites.size(), 1024 * 1024 * 3);
  EXPECT_EQ(first.certainWrites, first.possibleWrites);
  const ArgumentRegions second = symmetricWrites(1024, 32, 64);
  EXPECT_EQ(second.possibleWrites.size(), 1024 * 1024);
  EXPECT_EQ(second.certainWrites, second.possibleWrites);
  EXPECT_FALSE(second.possibleWrites.intersects(first.possibleWrites));
}

/// That would be too many parts. That the halves' rectangles have no byte in common must be seen
/// nevertheless.
TEST(Evaluate, halvesOfALargeSymmetricMatrixDoNotMeet) {
  const ByteSet first = symmetricWrites(8192, 0, 256).possibleWrites;
  const ByteSet second = symmetricWrites(8192, 256, 512).possibleWrites;
  EXPECT_FALSE(first.intersects(second));
  EXPECT_EQ(first.size(), std::uint64_t{8192} * 8192 * 3);
  EXPECT_EQ(second.size(), std::uint64_t{8192} * 8192);
}

/// A periodic plane's left and upper neighbours, over rows [16, 32) of 64: two rectangles of cells,
/// and what wraps.
TEST(Evaluate, periodicNeighboursAreWholeRows) {
  const NDRange plane{2, {}, {64, 64, 1}, {16, 16, 1}};
  auto before = [&](const Expr& at) {
    return Expr::node(Op::Select, {at, c(1), at + c(63), at + c(-1)}); // at < 1 ?
  };
  const auto left = regions({read(c(4) * (g1 * c(64) + before(g0)))}, plane, slab(plane, 1, 1, 2));
  EXPECT_EQ(toString(left.reads), "[4096,8192)");
  const auto upper = regions({read(c(4) * (before(g1) * c(64) + g0))}, plane, slab(plane, 1, 0, 1));
  EXPECT_EQ(toString(upper.reads), "[0,3840) [16128,16384)");
}

TEST(Evaluate, aGuardOverTwoIdsIsExact) {
  const auto r =
      regions({write(c(4) * g0, {{g0, Relation::Less, g1 + c(2)}})}, square, slab(square, 1, 0, 1));
  EXPECT_EQ(toString(r.possibleWrites), "[0,20)");
  EXPECT_EQ(r.certainWrites, r.possibleWrites);
}

TEST(Evaluate, contradictoryGuardsMeanNoAccess) {
  const auto r =
      regions({write(c(4) * g0, {{g0, Relation::Less, c(3)}, {c(5), Relation::Less, g0}})}, line,
              wholeBox(line));
  EXPECT_TRUE(r.possibleWrites.empty());
}

TEST(Evaluate, anUnknownIndexIsTheWholeArgumentWithReasonAndLine) {
  Access access = read(Expr::unknown("index loaded from `col`", 12) + g0);
  access.where = {"spmv.cl", 11};
  const auto r = regions({access}, line, wholeBox(line), 0, 64);
  EXPECT_EQ(toString(r.reads), "[0,64)");
  ASSERT_TRUE(r.unknownReads);
  EXPECT_EQ(r.unknownReads->text, "index loaded from `col`");
  EXPECT_EQ(r.unknownReads->where, (SourceLine{"spmv.cl", 12}));
  EXPECT_FALSE(r.unknownWrites);
}

TEST(Evaluate, anUnknownByteAsIndexIsBounded) {
  const Expr byte = Expr::node(Op::And, {Expr::unknown("loaded"), c(255)});
  const auto r = regions({read(c(4) * byte)}, line, wholeBox(line));
  EXPECT_EQ(toString(r.reads), "[0,1024)");
  EXPECT_FALSE(r.unknownReads);
}

TEST(Evaluate, whatMayOverflowIsUnknownAndWhatCanNotIsExact) {
  const Access access = write(c(4) * Expr::wrap(g0 * n, 32, true));
  EXPECT_FALSE(regions({access}, line, wholeBox(line), 1 << 26, 64).unknownWrites);
  const auto r = regions({access}, line, wholeBox(line), 1 << 28, 64);
  ASSERT_TRUE(r.unknownWrites);
  EXPECT_EQ(r.unknownWrites->text, "the index may overflow 32 bits");
  EXPECT_EQ(toString(r.possibleWrites), "[0,64)");
  EXPECT_TRUE(r.certainWrites.empty());
}

/// Odd rows begin at element 0, even ones at 1, so that rows are taken apart into pairs. Row 0 is
/// the second of a pair; the first, row -1, is none of the launch's and does not count.
TEST(Evaluate, whatDigitsCouldSayBeyondTheirIdIsNoOverflow) {
  const Expr parity = Expr::node(Op::RemTrunc, {g1 + c(3), c(2)});
  const Expr at = Expr::wrap(g1 * c(16) + c(2) * g0 + parity, 32, false);
  const auto r = regions({write(c(4) * at)}, square, slab(square, 1, 0, 1), 0, 512, 4);
  EXPECT_EQ(toString(r.possibleWrites), "[4,252)");
  EXPECT_FALSE(r.unknownWrites);
}

TEST(Evaluate, aGuardMayBeWhatRulesOverflowOut) {
  const Expr previous = Expr::wrap(g0 + c(-1), 32, false); // u32: wraps for id 0
  const auto r =
      regions({write(c(4) * previous, {{c(0), Relation::Less, g0}})}, line, wholeBox(line));
  EXPECT_EQ(toString(r.certainWrites), "[0,60)");
}

TEST(Evaluate, unsignedIndicesThatWrapBelowZeroLieBeyondTheBuffer) {
  const Expr above = Expr::wrap((g1 + c(-1)) * c(8) + g0, 32, false); // from element -8 on
  const auto r = regions({read(c(4) * above)}, square, slab(square, 1, 0, 1), 0, 256);
  EXPECT_EQ(toString(r.reads), "[0,96)");
  EXPECT_FALSE(r.unknownReads);
  // Many times around says nothing, at once.
  const Expr hash = Expr::wrap(g0 * c(0x9E3779B1), 32, false);
  EXPECT_TRUE(regions({read(c(4) * hash)}, line, wholeBox(line)).unknownReads);
}

TEST(Evaluate, accessesOutsideTheBufferAreCutOff) {
  EXPECT_EQ(toString(regions({read(c(4) * (g0 + c(-2)))}, line, wholeBox(line), 0, 40).reads),
            "[0,40)");
  EXPECT_TRUE(regions({read(c(4) * g0)}, line, wholeBox(line), 0, 0).reads.empty());
}

TEST(Evaluate, tooManyRangesBecomeTheirHullAndNothingCertain) {
  KernelSummary kernel;
  kernel.parameters = {{"a", "int*", ParameterKind::GlobalBuffer, 0}};
  kernel.accesses = {write(c(8) * g0)};
  const std::vector<ArgumentValue> arguments = {{{}, 1024}};
  const auto wide = evaluate(kernel, line, arguments, wholeBox(line), 16)[0];
  EXPECT_EQ(wide.certainWrites.ranges().size(), 16u);
  const auto few = evaluate(kernel, line, arguments, wholeBox(line), 15)[0];
  EXPECT_EQ(toString(few.possibleWrites), "[0,124)");
  EXPECT_TRUE(few.certainWrites.empty());
}

TEST(Evaluate, aLoopWithoutBoundReachesToTheEndAndSaysWhy) {
  const auto r = regions({read(c(4) * (g0 + Expr::loop(0)), {},
                               {{Expr::unknown("`while` with a loaded condition", 5), true}})},
                         line, slab(line, 0, 1, 2), 0, 256);
  EXPECT_EQ(toString(r.reads), "[16,256)");
  ASSERT_TRUE(r.unknownReads);
  EXPECT_EQ(r.unknownReads->text, "`while` with a loaded condition");
}

TEST(Evaluate, anEmptyBoxTouchesNothing) {
  EXPECT_TRUE(regions({write(c(4) * g0)}, line, slab(line, 0, 2, 2)).possibleWrites.empty());
}

} // namespace
} // namespace libsplit
