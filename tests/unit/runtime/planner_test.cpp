#include "runtime/plan/planner.h"

#include <gtest/gtest.h>

#include <cstring>

namespace libsplit::runtime {
namespace {

/// out[G0] = in[G0 - 1] + in[G0 + 1], 4-byte elements; the write is certain or not.
KernelSummary stencil(bool certain) {
  KernelSummary summary;
  summary.name = "stencil";
  summary.parameters = {{"out", "float*", ParameterKind::GlobalBuffer, 0},
                        {"in", "float*", ParameterKind::GlobalBuffer, 0}};
  Expr g = Expr::id(Expr::Op::GlobalId, 0);
  auto access = [](unsigned parameter, Effect effect, Expr offset) {
    Access made;
    made.parameter = parameter;
    made.effect = effect;
    made.offset = std::move(offset);
    made.length = 4;
    return made;
  };
  summary.accesses = {access(1, Effect::Read, Expr::constant(4) * (g + Expr::constant(-1))),
                      access(1, Effect::Read, Expr::constant(4) * (g + Expr::constant(1))),
                      access(0, Effect::Write, Expr::constant(4) * g)};
  summary.accesses[2].certain = certain;
  return summary;
}

LaunchRequest request(std::uint64_t items) {
  LaunchRequest made;
  made.range.global[0] = items;
  made.range.local[0] = 8;
  made.arguments.resize(2);
  made.arguments[0].bufferSize = made.arguments[1].bufferSize = 4 * items;
  made.buffers = {{0, 0, 0}, {1, 1, 0}};
  made.bufferCount = 2;
  return made;
}

TEST(Planner, GivesEachDeviceItsSlabAndHalo) {
  KernelSummary summary = stencil(true);
  std::vector<PlanDevice> devices = {{1, &summary}, {2, &summary}};
  std::vector<std::uint64_t> groups = {3, 5};
  PlanResult result = planCut(request(64), devices, 0, groups);
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(result));
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_EQ(plan.rung, Rung::Exact);
  ASSERT_EQ(plan.pieces.size(), 2u);
  EXPECT_EQ(plan.pieces[0].uses[0].writes, ByteSet(0, 96));
  EXPECT_EQ(plan.pieces[1].uses[0].writes, ByteSet(96, 256));
  EXPECT_TRUE(plan.pieces[0].uses[0].needs.empty());
  EXPECT_TRUE(plan.pieces[0].uses[1].needs.contains(ByteSet(92, 100)));
  EXPECT_TRUE(plan.pieces[1].uses[1].needs.contains(ByteSet(92, 96)));
  EXPECT_FALSE(plan.pieces[1].uses[1].needs.intersects(ByteSet(0, 92)));
}

TEST(Planner, BringsWholeRowsWhereTheirEndsWouldTravelOneByOne) {
  KernelSummary summary = stencil(true);
  summary.accesses[2].offset = Expr::constant(128) * Expr::id(Expr::Op::GlobalId, 0);
  summary.accesses[2].length = 124; // all but the last element of each row
  LaunchRequest launch = request(256);
  launch.arguments[0].bufferSize = 128 * 256;
  std::vector<PlanDevice> devices = {{1, &summary}, {2, &summary, /*copiesRowByRow=*/true}};
  std::vector<std::uint64_t> groups = {16, 16};
  PlanResult result = planCut(launch, devices, 0, groups);
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_TRUE(plan.pieces[0].uses[0].needs.empty());
  EXPECT_EQ(plan.pieces[1].uses[0].needs, ByteSet(128 * 128, 128 * 256 - 4));
  EXPECT_EQ(plan.pieces[1].uses[0].writes.size(), 128u * 124);
}

TEST(Planner, TellsOfFewRangesInOneMemoryWhereNothingTravels) {
  KernelSummary summary = stencil(true);
  summary.accesses[2].offset = Expr::constant(32) * Expr::id(Expr::Op::GlobalId, 0);
  constexpr std::uint64_t items = 8192;
  LaunchRequest launch = request(items);
  launch.arguments[0].bufferSize = 32 * items;
  std::vector<std::uint64_t> groups = {items / 16, items / 16};
  for (const bool isOneMemory : {false, true}) {
    std::vector<PlanDevice> devices = {{1, &summary}, {isOneMemory ? 1U : 2U, &summary}};
    PlanResult result = planCut(launch, devices, 0, groups);
    ASSERT_TRUE(std::holds_alternative<LaunchPlan>(result));
    const LaunchPlan& plan = std::get<LaunchPlan>(result);
    ASSERT_EQ(plan.pieces.size(), 2U);
    for (const Piece& piece : plan.pieces)
      if (isOneMemory)
        EXPECT_LT(piece.uses[0].writes.ranges().size(), items / 4);
      else
        EXPECT_EQ(piece.uses[0].writes.ranges().size(), items / 2);
  }
}

TEST(Planner, BringsOldBytesUnderUncertainWrites) {
  KernelSummary summary = stencil(false);
  std::vector<PlanDevice> devices = {{1, &summary}, {2, &summary}};
  std::vector<std::uint64_t> groups = {4, 4};
  PlanResult result = planCut(request(64), devices, 0, groups);
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_EQ(plan.rung, Rung::Possible);
  EXPECT_EQ(plan.pieces[1].uses[0].needs, ByteSet(128, 256));
}

TEST(Planner, MergesWhatSeveralNodesMayWriteAndNothingElse) {
  KernelSummary summary = stencil(true);
  summary.accesses[2].length = 8; // each item also writes its neighbour's
  summary.accesses[2].grain = 4;
  std::vector<std::uint64_t> groups = {4, 4};
  std::vector<PlanDevice> apart = {{1, &summary}, {2, &summary}};
  PlanResult result = planCut(request(64), apart, 0, groups);
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_EQ(plan.rung, Rung::Difference);
  ASSERT_EQ(plan.merges.size(), 1u);
  EXPECT_EQ(plan.merges[0].bytes, ByteSet(128, 132));
  EXPECT_EQ(plan.merges[0].grain, 4u);
  EXPECT_FALSE(plan.merges[0].update);
  EXPECT_EQ(plan.pieces[0].uses[0].writes, ByteSet(0, 128));
  EXPECT_EQ(plan.pieces[0].uses[0].merged, ByteSet(128, 132));
  EXPECT_EQ(plan.pieces[1].uses[0].writes, ByteSet(132, 256));
  std::vector<PlanDevice> together = {{0, &summary}, {0, &summary}};
  EXPECT_TRUE(std::get<LaunchPlan>(planCut(request(64), together, 0, groups)).merges.empty());
}

TEST(Planner, DoesNotAskWhichBytesAreReadInOneMemoryOfWhatNobodyWrites) {
  KernelSummary summary = stencil(true);
  std::vector<std::uint64_t> groups = {4, 4};
  std::vector<PlanDevice> together = {{0, &summary}, {0, &summary}};
  LaunchRequest launch = request(64);
  const LaunchPlan plan = std::get<LaunchPlan>(planCut(launch, together, 0, groups));
  EXPECT_EQ(plan.rung, Rung::Exact);
  EXPECT_EQ(plan.pieces[0].uses[1].needs, ByteSet(0, 256));
  EXPECT_EQ(plan.pieces[0].uses[0].writes, ByteSet(0, 128));
  // Nor takes all of it where a device has a memory of its own, though no part in this launch.
  std::vector<PlanDevice> apart = {{1, &summary}, {2, &summary}};
  std::vector<std::uint64_t> alone = {8, 0};
  summary.accesses[0].offset = summary.accesses[1].offset = Expr::constant(0);
  EXPECT_EQ(std::get<LaunchPlan>(planCut(launch, apart, 0, alone)).pieces[0].uses[1].needs,
            ByteSet(0, 4));
  // Of a buffer that it also writes, every byte counts: here each group needs its neighbours'.
  launch.buffers = {{0, 0, 0}, {1, 0, 0}};
  launch.bufferCount = 1;
  const LaunchPlan same = std::get<LaunchPlan>(planCut(launch, together, 0, alone));
  EXPECT_EQ(same.pieces[0].uses[0].needs, ByteSet(0, 4));
}

TEST(Planner, RefusesToMergeWhatEachDeviceWouldChangeForItself) {
  KernelSummary summary = stencil(false);
  summary.accesses[2].offset = Expr::unknown("index loaded from `col`", 7);
  summary.accesses[2].grain = 4;
  summary.accesses[2].changes = true;
  summary.accesses[2].where = {"", 9};
  std::vector<std::uint64_t> groups = {4, 4};
  std::vector<PlanDevice> apart = {{1, &summary}, {2, &summary}};
  PlanResult refused = planCut(request(64), apart, 0, groups);
  ASSERT_TRUE(std::holds_alternative<Reason>(refused));
  EXPECT_EQ(std::get<Reason>(refused).where.line, 9u);
  // In one memory it is as natively, and on places of its own nobody loses anything.
  std::vector<PlanDevice> together = {{hostNode, &summary}, {hostNode, &summary}};
  EXPECT_TRUE(std::holds_alternative<LaunchPlan>(planCut(request(64), together, 0, groups)));
  KernelSummary exact = stencil(true);
  exact.accesses[2].changes = true;
  apart = {{1, &exact}, {2, &exact}};
  EXPECT_TRUE(std::holds_alternative<LaunchPlan>(planCut(request(64), apart, 0, groups)));
  // What is read through another parameter, but from the same buffer, was there before as well.
  summary.accesses[2].changes = false;
  apart = {{1, &summary}, {2, &summary}};
  LaunchRequest launch = request(64);
  EXPECT_TRUE(std::holds_alternative<LaunchPlan>(planCut(launch, apart, 0, groups)));
  launch.buffers = {{0, 0, 0}, {1, 0, 0}};
  launch.bufferCount = 1;
  EXPECT_TRUE(std::holds_alternative<Reason>(planCut(launch, apart, 0, groups)));
  launch.buffers = {{0, 0, 0}, {1, 0, 256}}; // two parts of it
  EXPECT_TRUE(std::holds_alternative<LaunchPlan>(planCut(launch, apart, 0, groups)));
}

TEST(Planner, MergesWhatIsChangedWhereEachWorkItemHasPlacesOfItsOwn) {
  class Distinct : public Contents {
  public:
    std::optional<Interval> values(const ElementSlice&) override { return std::nullopt; }
    bool areDistinct(std::span<const KernelSummary* const> summaries, unsigned parameter) override {
      asked.push_back(parameter);
      return known && summaries.size() == 2;
    }
    bool known = true;
    std::vector<unsigned> asked;
  };
  KernelSummary summary = stencil(false);
  Access& write = summary.accesses[2];
  write.offset = Expr::constant(4) *
                 Expr::load(1, Expr::constant(4) * Expr::id(Expr::Op::GlobalId, 0), 32, true);
  write.grain = 4;
  write.changes = true;
  const std::vector<std::uint64_t> groups = {4, 4};
  const std::vector<PlanDevice> apart = {{1, &summary}, {2, &summary}};
  Distinct contents;
  LaunchRequest launch = request(64);
  launch.contents = &contents;
  const PlanResult merged = planCut(launch, apart, 0, groups);
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(merged)) << std::get<Reason>(merged).text;
  EXPECT_EQ(std::get<LaunchPlan>(merged).rung, Rung::Difference);
  EXPECT_EQ(contents.asked, (std::vector<unsigned>{write.parameter, write.parameter}));
  contents.known = false;
  EXPECT_TRUE(std::holds_alternative<Reason>(planCut(launch, apart, 0, groups)));
  // By way of another argument the same bytes may be somebody else's.
  contents.known = true;
  const unsigned written = write.parameter, other = written == 0 ? 1 : 0;
  Access again = write;
  again.parameter = other;
  summary.accesses.push_back(again);
  for (BufferArgument& argument : launch.buffers)
    argument.buffer =
        argument.parameter == other ? launch.buffers[written].buffer : argument.buffer;
  EXPECT_TRUE(std::holds_alternative<Reason>(planCut(launch, apart, 0, groups)));
}

TEST(Planner, MergesUnknownWritesByDifferenceOrLeavesThemInOneMemory) {
  KernelSummary summary = stencil(false);
  summary.accesses[2].offset = Expr::unknown("index loaded from `col`", 7);
  summary.accesses[2].grain = 4;
  std::vector<std::uint64_t> groups = {4, 4};
  std::vector<PlanDevice> apart = {{1, &summary}, {2, &summary}};
  PlanResult merged = planCut(request(64), apart, 0, groups);
  const LaunchPlan& plan = std::get<LaunchPlan>(merged);
  EXPECT_EQ(plan.rung, Rung::Difference);
  ASSERT_EQ(plan.merges.size(), 1u);
  EXPECT_EQ(plan.merges[0].bytes, ByteSet(0, 256));
  // Both start from the old bytes.
  EXPECT_TRUE(plan.pieces[0].uses[0].needs.contains(ByteSet(0, 256)));
  EXPECT_TRUE(plan.pieces[1].uses[0].needs.contains(ByteSet(0, 256)));
  EXPECT_TRUE(plan.pieces[0].uses[0].writes.empty());
  std::vector<PlanDevice> together = {{0, &summary}, {0, &summary}};
  PlanResult inPlace = planCut(request(64), together, 0, groups);
  EXPECT_EQ(std::get<LaunchPlan>(inPlace).rung, Rung::InPlace);
}

/// atomic_add(&out[?], ...) for in[G0].
KernelSummary histogram() {
  KernelSummary summary = stencil(false);
  summary.accesses[2].effect = Effect::Update;
  summary.accesses[2].offset = Expr::unknown("index loaded from `in`", 7);
  summary.accesses[2].where.line = 7;
  return summary;
}

TEST(Planner, CollectsUpdatesWithoutBringingOldBytes) {
  KernelSummary summary = histogram();
  std::vector<PlanDevice> apart = {{1, &summary}, {2, &summary}};
  std::vector<std::uint64_t> groups = {4, 4};
  PlanResult result = planCut(request(64), apart, 0, groups);
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_EQ(plan.rung, Rung::Atomics);
  ASSERT_EQ(plan.merges.size(), 1u);
  EXPECT_EQ(plan.merges[0].update, UpdateKind());
  EXPECT_EQ(plan.merges[0].bytes, ByteSet(0, 256));
  EXPECT_TRUE(plan.pieces[1].uses[0].needs.empty());
  EXPECT_TRUE(plan.pieces[1].uses[0].changes());
}

TEST(Planner, LeavesUpdatesToTheHardwareInOneMemory) {
  KernelSummary summary = histogram();
  std::vector<PlanDevice> together = {{0, &summary}, {0, &summary}};
  std::vector<std::uint64_t> groups = {4, 4};
  PlanResult result = planCut(request(64), together, 0, groups);
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_EQ(plan.rung, Rung::InPlace);
  EXPECT_TRUE(plan.merges.empty());
  EXPECT_TRUE(plan.pieces[1].uses[0].needs.contains(ByteSet(0, 256)));
}

TEST(Planner, UpdatesOnOneDeviceOfManyAreNoneToMerge) {
  KernelSummary summary = histogram();
  std::vector<PlanDevice> apart = {{1, &summary}, {2, &summary}};
  std::vector<std::uint64_t> groups = {0, 8};
  PlanResult result = planCut(request(64), apart, 0, groups);
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_TRUE(plan.merges.empty());
  EXPECT_EQ(plan.pieces[0].uses[0].needs, ByteSet(0, 256));
  EXPECT_EQ(plan.pieces[0].uses[0].writes, ByteSet(0, 256));
}

TEST(Planner, RefusesUpdatesOfABufferThatIsReadThroughAnotherArgument) {
  KernelSummary summary = histogram();
  LaunchRequest aliased = request(64);
  aliased.buffers = {{0, 0, 0}, {1, 0, 0}};
  aliased.bufferCount = 1;
  std::vector<PlanDevice> apart = {{1, &summary}, {2, &summary}};
  std::vector<std::uint64_t> groups = {4, 4};
  PlanResult result = planCut(aliased, apart, 0, groups);
  ASSERT_TRUE(std::holds_alternative<Reason>(result));
  EXPECT_EQ(std::get<Reason>(result).where.line, 7u);
}

TEST(Planner, SeesThroughArgumentsThatShareABuffer) {
  KernelSummary summary = stencil(true);
  LaunchRequest aliased = request(64);
  // Both arguments are halves of one buffer, the output's half overlapping the input's.
  aliased.buffers = {{0, 0, 0}, {1, 0, 128}};
  aliased.bufferCount = 1;
  std::vector<PlanDevice> devices = {{1, &summary}, {2, &summary}};
  std::vector<std::uint64_t> groups = {4, 4};
  PlanResult result = planCut(aliased, devices, 0, groups);
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_EQ(plan.pieces[1].uses[0].writes, ByteSet(128, 256));
  EXPECT_TRUE(plan.pieces[0].uses[0].needs.contains(ByteSet(128, 256)));
}

TEST(Planner, SkipsDevicesWithoutGroups) {
  KernelSummary summary = stencil(true);
  std::vector<PlanDevice> devices = {{1, &summary}, {2, nullptr}, {3, &summary}};
  std::vector<std::uint64_t> groups = {6, 0, 2};
  PlanResult result = planCut(request(64), devices, 0, groups);
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  ASSERT_EQ(plan.pieces.size(), 2u);
  EXPECT_EQ(plan.pieces[1].device, 2u);
  EXPECT_EQ(plan.pieces[1].box.begin[0], 6u);
}

/// out[G0].x = …; out[G0 + 1].y = …, vectors of two 4-byte components.
KernelSummary neighbouringComponents() {
  KernelSummary summary = stencil(true);
  const Expr vector = Expr::constant(8) * Expr::id(Expr::Op::GlobalId, 0);
  Access x = summary.accesses[2];
  x.offset = vector;
  Access y = x, besideX = x, besideY = x;
  y.offset = vector + Expr::constant(12);
  besideX.effect = besideY.effect = Effect::Rewrite;
  besideX.offset = vector + Expr::constant(4);
  besideY.offset = vector + Expr::constant(8);
  besideX.certain = besideY.certain = false;
  summary.accesses = {x, besideX, besideY, y};
  return summary;
}

TEST(Planner, LeavesAPieceOnlyTheComponentsThatItWrites) {
  const KernelSummary summary = neighbouringComponents();
  const std::vector<PlanDevice> apart = {{1, &summary}, {2, &summary}};
  const std::vector<std::uint64_t> groups = {1, 1};
  LaunchRequest launch = request(16);
  launch.arguments[0].bufferSize = 17 * 8;
  const PlanResult result = planCut(launch, apart, 0, groups);
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(result));
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_EQ(plan.rung, Rung::Exact);
  EXPECT_TRUE(plan.merges.empty());
  // Vector 8 is shared: the first piece writes its y, the second its x. y of vector 0 is stored
  // back by the first alone.
  EXPECT_EQ(toString(plan.pieces[0].uses[0].writes), "[0,64) [68,72)");
  EXPECT_EQ(toString(plan.pieces[1].uses[0].writes), "[64,68) [72,136)");
  EXPECT_TRUE(plan.pieces[0].uses[0].needs.contains(ByteSet(4, 8)));
}

TEST(Planner, DoesNotCutVectorsInOneMemory) {
  const KernelSummary summary = neighbouringComponents();
  const std::vector<PlanDevice> together = {{0, &summary}, {0, &summary}};
  LaunchRequest launch = request(16);
  launch.arguments[0].bufferSize = 17 * 8;
  const PlanResult result = planCut(launch, together, 0, std::vector<std::uint64_t>{1, 1});
  ASSERT_TRUE(std::holds_alternative<Reason>(result));
  EXPECT_NE(std::get<Reason>(result).text.find("components of the same vectors in `out`"),
            std::string::npos);
  // All of it by one device is another matter, and so are vectors that nobody shares.
  EXPECT_TRUE(std::holds_alternative<LaunchPlan>(
      planCut(launch, together, 0, std::vector<std::uint64_t>{2, 0})));
  KernelSummary alone = summary;
  alone.accesses.resize(2);
  const std::vector<PlanDevice> apart = {{0, &alone}, {0, &alone}};
  EXPECT_TRUE(std::holds_alternative<LaunchPlan>(
      planCut(launch, apart, 0, std::vector<std::uint64_t>{1, 1})));
}

TEST(Planner, APieceByItselfTellsWhatItMayStoreBack) {
  const KernelSummary summary = neighbouringComponents();
  const std::vector<PlanDevice> devices = {{1, &summary}, {2, &summary}};
  LaunchRequest launch = request(16);
  launch.arguments[0].bufferSize = 17 * 8;
  const Piece piece = planPiece(launch, devices, 0, 0, 0, 1);
  EXPECT_EQ(toString(piece.uses[0].writes), "[0,72)");
  EXPECT_TRUE(piece.uses[0].rewrites.contains(ByteSet(64, 68)));
  EXPECT_TRUE(piece.uses[0].needs.contains(ByteSet(64, 68)));
}

TEST(Planner, RefusesWhatReadsOtherPiecesWrites) {
  KernelSummary summary = stencil(true);
  for (Access& access : summary.accesses) {
    access.parameter = 0; // in place
    access.certain = true;
    access.where.line = access.effect == Effect::Read ? 5 : 6;
  }
  const std::vector<std::uint64_t> groups = {4, 4};
  for (const NodeId second : {0u, 1u}) {
    const std::vector<PlanDevice> devices = {{0, &summary}, {second, &summary}};
    const PlanResult result = planCut(request(64), devices, 0, groups);
    ASSERT_TRUE(std::holds_alternative<Reason>(result));
    EXPECT_NE(std::get<Reason>(result).text.find("line 6"), std::string::npos);
    EXPECT_EQ(std::get<Reason>(result).where.line, 5u);
  }
  // Where data decide whether it happens, it is nobody's but the program's.
  for (const std::size_t unsure : {0u, 2u}) {
    KernelSummary byData = summary;
    byData.accesses[unsure].certain = false;
    if (unsure == 0)
      byData.accesses[1].certain = false;
    const std::vector<PlanDevice> devices = {{0, &byData}, {1, &byData}};
    EXPECT_TRUE(std::holds_alternative<LaunchPlan>(planCut(request(64), devices, 0, groups)));
  }
}

TEST(Planner, LetsAPieceReadWhatItWritesItself) {
  KernelSummary summary = stencil(true);
  // All write element 0, and read it.
  for (Access& access : summary.accesses) {
    access.parameter = 0;
    access.certain = true;
    access.offset = Expr::constant(0);
  }
  const std::vector<PlanDevice> devices = {{0, &summary}, {0, &summary}};
  EXPECT_TRUE(std::holds_alternative<LaunchPlan>(
      planCut(request(64), devices, 0, std::vector<std::uint64_t>{4, 4})));
}

TEST(Planner, CountsWhatWouldTravel) {
  KernelSummary summary = stencil(true);
  std::vector<PlanDevice> devices = {{1, &summary}, {2, &summary}};
  std::vector<std::uint64_t> groups = {4, 4};
  LaunchPlan plan = std::get<LaunchPlan>(planCut(request(64), devices, 0, groups));
  Directory out(3, 1, 256), in(3, 1, 256);
  std::vector<const Directory*> directories = {&out, &in};
  EXPECT_EQ(costOfMoving(plan, devices, directories),
            costOfMoving(in.missing(2, plan.pieces[1].uses[1].needs)));
}

TEST(Planner, CountsScatteredBytesAsMore) {
  KernelSummary summary = stencil(true);
  std::vector<PlanDevice> devices = {{1, &summary}, {2, &summary}};
  LaunchPlan together, apart;
  together.pieces = apart.pieces = {{1, {}, {{ByteSet(0, 400), {}, {}, {}}}}};
  ByteSet scattered;
  for (std::uint64_t i = 0; i < 100; ++i)
    scattered.add({8 * i, 8 * i + 4});
  apart.pieces[0].uses[0].needs = scattered;
  Directory buffer(3, 1, 800);
  std::vector<const Directory*> directories = {&buffer};
  EXPECT_LT(costOfMoving(together, devices, directories),
            costOfMoving(apart, devices, directories));
}

/// A kernel that writes pixel (G0, G1) of an image of 10 by 8 pixels of 4 bytes, one byte of it if
/// it is not to write all.
struct Painting {
  ImageNumbers numbers{4, {10, 8, 1}};
  KernelSummary summary;
  LaunchRequest request;

  explicit Painting(Expr row, bool wholePixels = true) {
    summary.name = "paint";
    summary.parameters = {{"out", "image2d_t", ParameterKind::Image, 0}};
    Access access;
    access.effect = Effect::Write;
    access.certain = true;
    access.length = 1;
    const Expr pixel = row * ImageNumbers::sizeOf(0, 0) + Expr::id(Expr::Op::GlobalId, 0);
    access.offset = ImageNumbers::pixelOf(0) * pixel + Expr::loop(0);
    access.loops.push_back({wholePixels ? ImageNumbers::pixelOf(0) : Expr::constant(1)});
    access.guards.push_back(
        {Expr::id(Expr::Op::GlobalId, 0), Guard::Relation::Less, ImageNumbers::sizeOf(0, 0)});
    summary.accesses = {access};
    request.range.dimensions = 2;
    request.range.global = {16, 8, 1};
    request.range.local = {8, 2, 1};
    request.arguments.resize(1);
    request.arguments[0].bytes = std::as_bytes(std::span(&numbers, 1));
    request.arguments[0].bufferSize = 320;
    request.buffers = {{0, 0, 0}};
    request.bufferCount = 1;
  }
  Painting(const Painting&) = delete;

  PlanResult cut(unsigned dimension, std::vector<std::uint64_t> groups) {
    const std::vector<PlanDevice> devices = {{1, &summary}, {2, &summary}};
    return planCut(request, devices, dimension, groups);
  }
};

TEST(Planner, CutsAnImageByItsRows) {
  Painting painting(Expr::id(Expr::Op::GlobalId, 1));
  const PlanResult result = painting.cut(1, {1, 3});
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(result));
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_EQ(plan.rung, Rung::Exact);
  EXPECT_EQ(plan.pieces[0].uses[0].writes, ByteSet(0, 80));
  EXPECT_EQ(plan.pieces[1].uses[0].writes, ByteSet(80, 320));
}

TEST(Planner, PixelsTravelWhole) {
  Painting painting(Expr::id(Expr::Op::GlobalId, 1), false);
  const PlanResult result = painting.cut(1, {1, 3});
  ASSERT_TRUE(std::holds_alternative<LaunchPlan>(result));
  const LaunchPlan& plan = std::get<LaunchPlan>(result);
  EXPECT_EQ(plan.rung, Rung::Possible);
  EXPECT_EQ(plan.pieces[0].uses[0].writes, ByteSet(0, 80));
  EXPECT_EQ(plan.pieces[0].uses[0].needs, ByteSet(0, 80));
}

TEST(Planner, PixelsThatSeveralMayWriteAreNotPutTogether) {
  Painting all(Expr::constant(3));
  const PlanResult same = all.cut(1, {1, 3});
  ASSERT_TRUE(std::holds_alternative<Reason>(same));
  EXPECT_EQ(std::get<Reason>(same).text,
            "work-groups of several devices may write the same pixels of `out`");
  Painting unknown(Expr::id(Expr::Op::GlobalId, 1));
  unknown.summary.accesses[0].offset = Expr::unknown("who knows where");
  unknown.summary.accesses[0].certain = false;
  const PlanResult anywhere = unknown.cut(1, {1, 3});
  ASSERT_TRUE(std::holds_alternative<Reason>(anywhere));
  EXPECT_EQ(std::get<Reason>(anywhere).text, "who knows where");
}

} // namespace
} // namespace libsplit::runtime
