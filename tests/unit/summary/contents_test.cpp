// Regions that depend on what buffers hold.
#include "analysis-pass/summary/evaluate.h"
#include "tests/property/buffer_contents.h"

#include <gtest/gtest.h>

#include <numeric>

namespace libsplit {
namespace {

using Op = Expr::Op;
using Relation = Guard::Relation;

const Expr g0 = Expr::id(Op::GlobalId, 0);

Expr c(std::int64_t value) {
  return Expr::constant(value);
}
Expr intAt(unsigned parameter, const Expr& element) {
  return Expr::load(parameter, c(4) * element, 32, true);
}
Expr minus(const Expr& a, const Expr& b) {
  return a + c(-1) * b;
}

Access access(unsigned parameter, Effect effect, Expr offset) {
  Access made;
  made.parameter = parameter;
  made.effect = effect;
  made.certain = effect == Effect::Write;
  made.offset = std::move(offset);
  made.length = 4;
  return made;
}

/// A kernel over buffers that hold these ints.
struct Case {
  KernelSummary kernel;
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::uint64_t> sizes;
  NDRange range{1, {}, {8, 1, 1}, {1, 1, 1}};

  unsigned buffer(const std::vector<std::int32_t>& elements) {
    buffers.push_back(bufferOf(elements));
    sizes.push_back(buffers.back().size());
    return parameter();
  }
  unsigned unknownBuffer(std::uint64_t size) {
    buffers.emplace_back();
    sizes.push_back(size);
    return parameter();
  }
  unsigned parameter() {
    const auto i = static_cast<unsigned>(kernel.parameters.size());
    kernel.parameters.push_back(
        {std::string(1, static_cast<char>('a' + i)), "int*", ParameterKind::GlobalBuffer, 0});
    return i;
  }
  std::vector<ArgumentRegions> regions(std::uint64_t begin, std::uint64_t end) {
    std::vector<ArgumentValue> arguments;
    for (const std::uint64_t size : sizes)
      arguments.push_back({{}, size});
    BufferContents contents(buffers);
    return evaluate(kernel, range, arguments, slab(range, 0, begin, end), 65536, &contents);
  }
};

/// y[i] = sum over j in [row[i], row[i + 1]) of val[j] * x[col[j]], as the analysis says it.
struct Csr : Case {
  unsigned row, col, val, x, y;

  Csr(const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& columns) {
    row = buffer(rows);
    col = buffer(columns);
    val = unknownBuffer(columns.size() * 4);
    x = unknownBuffer(400);
    y = unknownBuffer(400);
    range.global[0] = rows.size() - 1;
    const Expr begin = intAt(row, g0), end = intAt(row, g0 + c(1));
    const Expr j = Expr::wrap(begin + Expr::loop(0), 32, true);
    const Loop loop{Expr::node(Op::Max, {minus(end, begin), c(0)})};
    for (Access each : {access(val, Effect::Read, c(4) * j), access(col, Effect::Read, c(4) * j),
                        access(x, Effect::Read, c(4) * intAt(col, j))}) {
      each.loops = {loop};
      kernel.accesses.push_back(each);
    }
    kernel.accesses.push_back(access(row, Effect::Read, c(4) * g0));
    kernel.accesses.push_back(access(row, Effect::Read, c(4) * (g0 + c(1))));
    kernel.accesses.push_back(access(y, Effect::Write, c(4) * g0));
  }
};

TEST(ContentsEvaluate, rowsOfACsrMatrixReadExactlyTheirElements) {
  Csr csr({0, 3, 3, 10, 12, 20, 20, 21, 30}, {5, 9, 7, 40, 41, 42, 43, 44, 45, 46, 1, 1, 2, 3, 4,
                                              5, 6, 7, 8,  9,  0,  0,  0,  0,  0,  0, 0, 0, 0, 99});
  auto r = csr.regions(2, 5); // rows 2 to 4: elements 3 to 19
  EXPECT_EQ(toString(r[csr.val].reads), "[12,80)");
  EXPECT_EQ(toString(r[csr.col].reads), "[12,80)");
  EXPECT_EQ(toString(r[csr.x].reads), "[4,188)"); // columns 1 to 46
  EXPECT_EQ(toString(r[csr.row].reads), "[8,24)");
  EXPECT_EQ(toString(r[csr.y].certainWrites), "[8,20)");
  EXPECT_FALSE(r[csr.val].unknownReads);

  r = csr.regions(0, 2);
  EXPECT_EQ(toString(r[csr.val].reads), "[0,12)");
  EXPECT_EQ(toString(r[csr.x].reads), "[20,40)");
  r = csr.regions(5, 6); // an empty row
  EXPECT_EQ(toString(r[csr.val].reads), "{}");
  EXPECT_EQ(toString(r[csr.x].reads), "{}");
}

TEST(ContentsEvaluate, rowsOutOfOrderReadEverythingBetween) {
  Csr csr({6, 9, 2, 5, 5}, std::vector<std::int32_t>(12, 3));
  const auto r = csr.regions(0, 4); // elements 6 to 8 and 2 to 4
  EXPECT_TRUE(r[csr.val].reads.contains(ByteSet(8, 36)));
  EXPECT_EQ(toString(r[csr.x].reads), "[12,16)");
}

TEST(ContentsEvaluate, rowsOutsideTheirBufferAreCut) {
  Csr csr({-5, 2, 1000000, 1000001, 7}, std::vector<std::int32_t>(12, 3));
  const auto r = csr.regions(0, 4);
  EXPECT_EQ(toString(r[csr.val].reads), "[0,48)");
}

TEST(ContentsEvaluate, sumsThatMayOverflowAreUnknown) {
  Csr csr({INT32_MAX - 1, INT32_MAX, 0, 3}, std::vector<std::int32_t>(12, 3));
  csr.kernel.accesses[0].offset = c(4) * Expr::wrap(intAt(csr.row, g0) + c(7), 32, true);
  const auto r = csr.regions(0, 3);
  EXPECT_EQ(toString(r[csr.val].reads), "[0,48)");
  ASSERT_TRUE(r[csr.val].unknownReads);
  EXPECT_EQ(r[csr.val].unknownReads->text, "the index may overflow 32 bits");
}

TEST(ContentsEvaluate, strideLoopsOfAGroupStayWithinTheRow) {
  // for (j = row[W0] + L0; j < row[W0 + 1]; j += 4)
  Case k;
  const unsigned row = k.buffer({0, 10, 13, 40, 50}), val = k.unknownBuffer(200);
  k.range = {1, {}, {16, 1, 1}, {4, 1, 1}};
  const Expr w0 = Expr::id(Op::GroupId, 0), l0 = Expr::id(Op::LocalId, 0);
  const Expr first = intAt(row, w0) + l0;
  Access read = access(val, Effect::Read, c(4) * (first + c(4) * Expr::loop(0)));
  read.loops = {{Expr::node(
      Op::Max,
      {Expr::node(Op::DivFloor, {minus(intAt(row, w0 + c(1)) + c(3), first), c(4)}), c(0)})}};
  k.kernel.accesses = {read};
  EXPECT_EQ(toString(k.regions(1, 3)[val].reads), "[40,160)");
}

TEST(ContentsEvaluate, membersOfRecordsAreToldApart) {
  // struct { int begin, end; } blocks[]
  Case k;
  const unsigned blocks = k.buffer({10, 900, 20, 901, 30, 902, 40, 903}), a = k.unknownBuffer(4000);
  k.kernel.accesses = {access(a, Effect::Read, c(4) * Expr::load(blocks, c(8) * g0, 32, true))};
  EXPECT_EQ(toString(k.regions(1, 3)[a].reads), "[80,124)");
}

TEST(ContentsEvaluate, aBoundInABufferKeepsWritesCertain) {
  Case k;
  const unsigned n = k.buffer({5}), out = k.unknownBuffer(400);
  Access write = access(out, Effect::Write, c(4) * g0);
  write.guards = {{g0, Relation::Less, intAt(n, c(0))}};
  k.kernel.accesses = {write};
  EXPECT_EQ(toString(k.regions(0, 8)[out].certainWrites), "[0,20)");
}

TEST(ContentsEvaluate, scatteredWritesAreNeverCertain) {
  Case k;
  const unsigned to = k.buffer({3, 1, 2, 0, 7, 6, 5, 4}), out = k.unknownBuffer(400);
  k.kernel.accesses = {access(out, Effect::Write, c(4) * intAt(to, g0))};
  const auto r = k.regions(0, 4);
  EXPECT_EQ(toString(r[out].possibleWrites), "[0,16)");
  EXPECT_EQ(toString(r[out].certainWrites), "{}");
  EXPECT_EQ(toString(k.regions(4, 8)[out].possibleWrites), "[16,32)");
}

TEST(ContentsEvaluate, conditionsOnElementsMakeNothingCertain) {
  Case k;
  const unsigned flag = k.buffer({0, 0, 1, 1, 0, 1, 0, 0}), out = k.unknownBuffer(400);
  Access write = access(out, Effect::Write, c(4) * g0);
  write.guards = {{intAt(flag, g0), Relation::Less, c(1)}};
  k.kernel.accesses = {write};
  EXPECT_EQ(toString(k.regions(0, 8)[out].certainWrites), "{}");
  EXPECT_EQ(toString(k.regions(0, 8)[out].possibleWrites), "[0,32)");
  EXPECT_EQ(toString(k.regions(2, 4)[out].possibleWrites), "{}");
}

TEST(ContentsEvaluate, whatIsNotKnownIsAnywhereAndSaysWhy) {
  Case k;
  const unsigned index = k.unknownBuffer(32), out = k.unknownBuffer(400);
  k.kernel.accesses = {access(out, Effect::Write, c(4) * intAt(index, g0))};
  const auto r = k.regions(0, 4);
  EXPECT_EQ(toString(r[out].possibleWrites), "[0,400)");
  ASSERT_TRUE(r[out].unknownWrites);
  EXPECT_EQ(r[out].unknownWrites->text, "value loaded from `a`");
}

TEST(ContentsEvaluate, indicesOfIndicesAreFollowed) {
  Case k;
  const unsigned block = k.buffer({2, 0, 1, 3}), base = k.buffer({100, 200, 0, 300}),
                 out = k.unknownBuffer(4000);
  k.range.global[0] = 4;
  k.kernel.accesses = {access(out, Effect::Write, c(4) * (intAt(base, intAt(block, g0)) + c(1)))};
  EXPECT_EQ(toString(k.regions(0, 1)[out].possibleWrites), "[4,8)");
  EXPECT_EQ(toString(k.regions(1, 3)[out].possibleWrites), "[404,808)");
}

/// Neither j nor k has a bound by itself.
TEST(ContentsEvaluate, boundADifferenceOfLoopsOfUnknownCounts) {
  Case two;
  const unsigned a = two.unknownBuffer(1000);
  const unsigned limits = two.buffer({0, 1, 2, 3, 0, 1, 2, 3});
  Access read = access(a, Effect::Read, c(100));
  read.loops = {{Expr::unknown("?"), true}, {Expr::unknown("?"), true}};
  const Expr j = Expr::loop(0), k = Expr::loop(1);
  for (const Expr& difference : {minus(j, k), minus(k, j)})
    read.guards.push_back({difference + intAt(limits, g0), Relation::LessEqual, c(5)});
  read.offset = c(4) * minus(j, k) + c(100);
  two.kernel.accesses = {read};
  const ByteSet reads = two.regions(0, 8)[a].reads;
  EXPECT_TRUE(reads.contains(ByteSet(80, 124))) << toString(reads);
}

} // namespace
} // namespace libsplit
