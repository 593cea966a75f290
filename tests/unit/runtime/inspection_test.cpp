#include "runtime/program/inspection.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

TEST(Hulls, ofAnyRunAreWhatALoopFinds) {
  std::vector<Interval> intervals;
  for (int i = 0; i < 10000; ++i)
    intervals.push_back(i % 7 == 0 ? nothing : Interval{i * 37 % 1009, i * 37 % 1009 + i % 5});
  const Hulls hulls(intervals);
  for (std::size_t first = 0; first < intervals.size(); first += 611)
    for (std::size_t last = first; last < intervals.size(); last += 173) {
      Interval all = nothing;
      for (std::size_t i = first; i <= last; ++i)
        all = hull(all, intervals[i]);
      ASSERT_EQ(hulls.between(first, last), all) << first << ' ' << last;
    }
  EXPECT_TRUE(hulls.between(7, 7).empty());
}

TEST(TouchedCells, slabsOfGroupsGoWhereTheirCellsGo) {
  // 3 x 2 cells of 2 x 1 groups; the last of a row is one group wide.
  const CellGrid grid{{2, 1, 1}, {3, 2, 1}};
  const Interval cells[] = {{0, 3}, {4, 7}, nothing, {100, 103}, {104, 107}, {108, 111}};
  const TouchedCells touched(grid, cells);
  EXPECT_EQ(touched.within({{0, 0, 0}, {5, 1, 1}}), (Interval{0, 7}));
  EXPECT_EQ(touched.within({{0, 1, 0}, {5, 2, 1}}), (Interval{100, 111}));
  EXPECT_EQ(touched.within({{2, 0, 0}, {4, 2, 1}}), (Interval{4, 107}));
  EXPECT_EQ(touched.within({{1, 0, 0}, {2, 2, 1}}), (Interval{0, 103})) << "half a cell is a cell";
}

TEST(TouchedCells, whatIsNotKnownOfAGroupIsNotKnownOfItsSlab) {
  const Interval cells[] = {{0, 3}, everything, nothing, {12, 15}};
  const TouchedCells touched({{1, 1, 1}, {4, 1, 1}}, cells);
  EXPECT_EQ(touched.within({{0, 0, 0}, {4, 1, 1}}), everything);
  EXPECT_EQ(touched.within({{1, 0, 0}, {2, 1, 1}}), everything);
  EXPECT_EQ(touched.within({{2, 0, 0}, {4, 1, 1}}), (Interval{12, 15}));
  EXPECT_TRUE(touched.within({{2, 0, 0}, {3, 1, 1}}).empty());
}

TEST(CellsFrom, readsWhatKernelsWrite) {
  const std::int64_t written[] = {16, 20, INT64_MAX, INT64_MIN, INT64_MIN, INT64_MAX, -8, -4};
  EXPECT_EQ(cellsFrom(written),
            (std::vector{Interval{16, 19}, nothing, everything, Interval{-8, -5}}));
}

/// A kernel with an access that wants inspection, over and over.
KernelSummary kernelOf(std::vector<unsigned> strides) {
  KernelSummary kernel;
  kernel.parameters.resize(3, {"a", "int*", ParameterKind::GlobalBuffer, 0});
  const Expr g0 = Expr::id(Expr::Op::GlobalId, 0);
  for (const unsigned stride : strides) {
    Access access;
    access.length = 4;
    const Expr inner = Expr::load(1, Expr::constant(4) * g0, 32, true);
    access.offset = Expr::constant(stride) * Expr::load(2, Expr::constant(4) * inner, 32, true);
    kernel.accesses.push_back(access);
    kernel.accesses.emplace_back().length = 4; // one that does not
  }
  return kernel;
}

TEST(Inspections, accessesThatGoAlikeShareAnInspector) {
  const KernelSummary kernel = kernelOf({4, 8, 4}), again = kernelOf({8});
  const KernelSummary* const summaries[] = {&kernel, nullptr, &again, &kernel};
  const Inspections inspections(summaries);
  EXPECT_EQ(inspections.inspectorOf(kernel, 0), 0u);
  EXPECT_EQ(inspections.inspectorOf(kernel, 1), std::nullopt);
  EXPECT_EQ(inspections.inspectorOf(kernel, 2), 1u);
  EXPECT_EQ(inspections.inspectorOf(kernel, 4), 0u);
  EXPECT_EQ(inspections.inspectorOf(again, 0), 1u);
  EXPECT_EQ(inspections.source(0).buffers(), (std::vector<unsigned>{1, 2}));
}

TEST(Inspections, areBoundedInNumber) {
  std::vector<unsigned> strides;
  for (unsigned i = 0; i < 100; ++i)
    strides.push_back(4 + i);
  const KernelSummary kernel = kernelOf(strides);
  const KernelSummary* const summaries[] = {&kernel};
  const Inspections inspections(summaries);
  EXPECT_TRUE(inspections.inspectorOf(kernel, 0).has_value());
  EXPECT_FALSE(inspections.inspectorOf(kernel, 198).has_value());
}

TEST(Inspections, areNoneWhereTheDriverDoesNotBuildThem) {
  const KernelSummary kernel = kernelOf({4});
  const KernelSummary* const summaries[] = {&kernel};
  Inspections inspections(summaries);
  Dispatch refusing{};
  refusing.clCreateProgramWithSource = [](cl_context, cl_uint, const char**, const std::size_t*,
                                          cl_int* error) -> cl_program {
    *error = CL_OUT_OF_HOST_MEMORY;
    return nullptr;
  };
  EXPECT_FALSE(inspections.build(refusing, nullptr, nullptr));
}

class KnownInspections : public ::testing::Test {
protected:
  static InspectionKey keyOf(std::uint64_t version, std::int64_t number = 0,
                             std::size_t inspector = 0, std::uint64_t origin = 0) {
    return {inspector, {number}, {{version, origin}}};
  }
  static std::shared_ptr<const TouchedCells> answer(std::uint64_t cells = 1) {
    return std::make_shared<TouchedCells>(CellGrid{{1, 1, 1}, {cells, 1, 1}},
                                          std::vector<Interval>(cells, {0, 3}));
  }
  Inspections inspections{{}};
};

TEST_F(KnownInspections, holdForTheContentsAndNumbersThatTheyWereMadeFor) {
  const auto cells = answer();
  inspections.keep(keyOf(5), cells);
  EXPECT_EQ(inspections.find(keyOf(5)), cells);
  EXPECT_EQ(inspections.find(keyOf(6)), nullptr);
  EXPECT_EQ(inspections.find(keyOf(5, 1)), nullptr);
  EXPECT_EQ(inspections.find(keyOf(5, 0, 1)), nullptr);
  EXPECT_EQ(inspections.find(keyOf(5, 0, 0, 64)), nullptr);
}

TEST_F(KnownInspections, areForgottenOldestFirst) {
  for (std::int64_t number = 0; number < 100; ++number)
    inspections.keep(keyOf(5, number), answer());
  EXPECT_EQ(inspections.find(keyOf(5, 0)), nullptr);
  EXPECT_NE(inspections.find(keyOf(5, 99)), nullptr);
}

TEST_F(KnownInspections, areFewIfTheyAreLarge) {
  for (std::int64_t number = 0; number < 4; ++number)
    inspections.keep(keyOf(5, number), answer(1 << 20));
  EXPECT_EQ(inspections.find(keyOf(5, 1)), nullptr);
  EXPECT_NE(inspections.find(keyOf(5, 2)), nullptr);
  EXPECT_NE(inspections.find(keyOf(5, 3)), nullptr);
}

TEST(InspectorSource, looksAtTheEndsOnlyOfWhatAnAddressIsAffineIn) {
  const auto lanes = [](const Expr& element, const CellGrid& grid) {
    Access access;
    access.length = 4;
    access.offset = Expr::constant(4) * element;
    return InspectorSource(access).lanes({2, {}, {64, 16, 1}, {8, 4, 1}}, grid);
  };
  auto id = [](Expr::Op op, unsigned d) { return Expr::id(op, d); };
  const Expr block = Expr::load(1, Expr::constant(4) * id(Expr::Op::GroupId, 0), 32, true);
  const CellGrid each{{1, 1, 1}, {8, 4, 1}}, pairs{{2, 1, 1}, {4, 4, 1}};
  EXPECT_EQ(lanes(id(Expr::Op::GlobalId, 0) + id(Expr::Op::GlobalId, 1), each), 4u);
  EXPECT_EQ(lanes(id(Expr::Op::GlobalId, 0) * id(Expr::Op::GlobalId, 1), pairs), 4u);
  // The group's id is looked up, the local one added.
  EXPECT_EQ(lanes(block + id(Expr::Op::LocalId, 0), each), 4u);
  EXPECT_EQ(lanes(block + id(Expr::Op::LocalId, 0), pairs), 32u);
  EXPECT_EQ(lanes(id(Expr::Op::LocalId, 0), each), 4u);
  EXPECT_EQ(lanes(id(Expr::Op::LocalId, 0), pairs), 32u) << "two groups, not affine together";
}

TEST(InspectorSource, checksForOverflowOnlyWhereTypesDoNotRuleItOut) {
  const auto text = [](const Expr& offset) {
    Access access;
    access.length = 4;
    access.offset = offset;
    return InspectorSource(access).text();
  };
  const Expr at = Expr::constant(4) * Expr::id(Expr::Op::GlobalId, 0);
  const Expr narrow = Expr::load(1, at, 32, true), wide = Expr::load(1, at, 64, true);
  const auto checks = [](const std::string& in) { return in.find("checked_") != in.npos; };
  EXPECT_FALSE(checks(text(narrow * narrow + at)));
  EXPECT_TRUE(checks(text(wide * Expr::constant(4))));
  EXPECT_TRUE(checks(text(narrow * narrow * narrow)));
  EXPECT_EQ(text(Expr::wrap(narrow, 64, true)), text(narrow));
  EXPECT_NE(text(Expr::wrap(narrow + at, 32, true)), text(narrow + at));
}

/// A kernel that changes elements of argument 0 that 1 and 2 name.
KernelSummary changing(std::initializer_list<std::pair<unsigned, std::uint64_t>> changes) {
  KernelSummary kernel = kernelOf({});
  const Expr at = Expr::constant(4) * Expr::id(Expr::Op::GlobalId, 0);
  for (const auto& [index, length] : changes) {
    Access& access = kernel.accesses.emplace_back();
    access.effect = Effect::Write;
    access.changes = true;
    access.length = length;
    access.offset = Expr::constant(8) * Expr::load(index, at, 32, true);
  }
  return kernel;
}

TEST(PlacesToClaim, areThoseThatDataDecideEachOnce) {
  KernelSummary kernel = changing({{1, 4}, {2, 8}, {1, 4}});
  kernel.accesses[2].guards = {
      {Expr::constant(0), Guard::Relation::Less, Expr::id(Expr::Op::GlobalId, 0)}};
  const auto places = placesToClaim(kernel, 0);
  ASSERT_TRUE(places);
  EXPECT_EQ(places->unit, 4u);
  EXPECT_EQ(places->accesses,
            (std::vector<const Access*>{&kernel.accesses[0], &kernel.accesses[1]}));
  EXPECT_FALSE(placesToClaim(kernel, 1)) << "nothing is changed there";
  kernel.accesses[1].changes = false;
  EXPECT_EQ(placesToClaim(kernel, 0)->accesses.size(), 1u);
}

TEST(PlacesToClaim, areNoneWhereIdsTellOrNothingDoes) {
  KernelSummary kernel = changing({{1, 4}});
  kernel.accesses[0].offset = Expr::constant(4) * Expr::id(Expr::Op::GlobalId, 0);
  EXPECT_FALSE(placesToClaim(kernel, 0));
  kernel = changing({{1, 4}, {2, 4}});
  kernel.accesses[1].offset = Expr::unknown("pointer", 3);
  EXPECT_FALSE(placesToClaim(kernel, 0)) << "some are not known";
  kernel = changing({{1, 4}, {2, 4096}});
  EXPECT_FALSE(placesToClaim(kernel, 0)) << "too many for one work-item";
}

TEST(InspectorSource, claimsABitForEachPlaceOfTheArgumentThatIsChanged) {
  const KernelSummary kernel = changing({{1, 4}});
  const InspectorSource source(*placesToClaim(kernel, 0));
  const auto bytes = [&](std::uint64_t size) {
    const std::vector<ArgumentValue> arguments{{{}, size}, {{}, 4096}, {{}, 8192}};
    return source.claimBytes(arguments);
  };
  EXPECT_EQ(bytes(4 * 32), 4u);
  EXPECT_EQ(bytes(4 * 33), 8u);
  EXPECT_EQ(bytes(0), 4u);
  // The same change of another argument is another question.
  KernelSummary other = kernel;
  other.accesses[0].parameter = 2;
  const KernelSummary* const summaries[] = {&kernel, &other};
  const Inspections inspections(summaries);
  EXPECT_EQ(inspections.claimsOf(kernel, 0), 0u);
  EXPECT_EQ(inspections.claimsOf(other, 2), 1u);
  EXPECT_EQ(inspections.claimsOf(kernel, 1), std::nullopt);
}

TEST(InspectorSource, takesNoNumbersThatDoNotFit) {
  const KernelSummary kernel = kernelOf({4});
  const InspectorSource source(kernel.accesses[0]);
  NDRange range{1, {}, {1024, 1, 1}, {64, 1, 1}};
  const std::vector<ArgumentValue> arguments{{{}, 64}, {{}, 4096}, {{}, 8192}};
  const auto numbers = source.numbers(range, gridOf(range), arguments);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->at(19), 4096);
  EXPECT_EQ(numbers->at(20), 8192);
  range.offset[0] = ~std::uint64_t{0} - 2048;
  EXPECT_FALSE(source.numbers(range, gridOf(range), arguments));
}

} // namespace
} // namespace libsplit::runtime
