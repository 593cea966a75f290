#include "runtime/plan/boundary.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

constexpr std::uint64_t row = 32; // bytes that a work-group of 8 elements writes

Access access(unsigned parameter, Effect effect, Expr offset) {
  Access made;
  made.parameter = parameter;
  made.effect = effect;
  made.offset = std::move(offset);
  made.length = 4;
  made.certain = true;
  return made;
}

/// out[G0] = in[G0 - 1] + in[G0 + 1], 4-byte elements.
KernelSummary stencil() {
  KernelSummary summary;
  summary.name = "stencil";
  summary.parameters = {{"out", "float*", ParameterKind::GlobalBuffer, 0},
                        {"in", "float*", ParameterKind::GlobalBuffer, 0}};
  const Expr g = Expr::id(Expr::Op::GlobalId, 0);
  summary.accesses = {access(1, Effect::Read, Expr::constant(4) * (g + Expr::constant(-1))),
                      access(1, Effect::Read, Expr::constant(4) * (g + Expr::constant(1))),
                      access(0, Effect::Write, Expr::constant(4) * g)};
  return summary;
}

/// A launch of 64 work-groups over nodes 1, 2 and 3.
struct Stencil {
  explicit Stencil(KernelSummary of) : summary(std::move(of)) {
    request.range.global[0] = 512;
    request.range.local[0] = 8;
    request.arguments.resize(2);
    request.arguments[0].bufferSize = request.arguments[1].bufferSize = 4 * 512;
    request.buffers = {{0, 0, 0}, {1, 1, 0}};
    request.bufferCount = 2;
  }
  LaunchPlan plan() const {
    const std::vector<std::uint64_t> groups = {20, 24, 20};
    return std::get<LaunchPlan>(planCut(request, devices(), 0, groups));
  }
  std::vector<PlanDevice> devices() const { return {{1, &summary}, {2, &summary}, {3, &summary}}; }
  LaunchPlan cut(const Departing& departing) const {
    return boundariesFirst(request, devices(), plan(), departing);
  }

  KernelSummary summary;
  LaunchRequest request;
};

/// Device and groups of each piece.
using Shape = std::vector<std::array<std::uint64_t, 3>>;
Shape shapeOf(const LaunchPlan& plan) {
  Shape shape;
  for (const Piece& piece : plan.pieces)
    shape.push_back({piece.device, piece.box.begin[0], piece.box.end[0]});
  return shape;
}

std::vector<bool> boundariesOf(const LaunchPlan& plan) {
  std::vector<bool> are;
  for (const Piece& piece : plan.pieces)
    are.push_back(piece.isBoundary);
  return are;
}

/// The elements next to the cuts, at groups 20 and 44.
Departing halos() {
  auto last = [](std::uint64_t groups) { return ByteSet(groups * row - 4, groups * row); };
  auto first = [](std::uint64_t group) { return ByteSet(group * row, group * row + 4); };
  return {{last(20), {}}, {unite(first(20), last(44)), {}}, {first(44), {}}};
}

TEST(Boundary, whatDepartsIsDoneFirst) {
  const LaunchPlan plan = Stencil(stencil()).cut(halos());
  EXPECT_EQ(shapeOf(plan), (Shape{{0, 19, 20},
                                  {0, 0, 19},
                                  {1, 20, 21},
                                  {1, 43, 44},
                                  {1, 21, 43},
                                  {2, 44, 45},
                                  {2, 45, 64}}));
  EXPECT_EQ(boundariesOf(plan), (std::vector<bool>{true, false, true, true, false, true, false}));
  EXPECT_EQ(plan.pieces[0].uses[0].writes, ByteSet(19 * row, 20 * row));
  EXPECT_TRUE(plan.pieces[0].uses[1].needs.contains(ByteSet(20 * row, 20 * row + 4)));
  EXPECT_FALSE(plan.pieces[1].uses[1].needs.intersects(ByteSet(20 * row, 64 * row)))
      << "the rest waits for no neighbour";
}

TEST(Boundary, whereNothingDepartsPiecesStayWhole) {
  const Stencil launch(stencil());
  EXPECT_EQ(shapeOf(launch.cut({{{}, {}}, {{}, {}}, {{}, {}}})), shapeOf(launch.plan()));
  // Nor where only what is read goes elsewhere.
  const ByteSet all(0, 64 * row);
  EXPECT_EQ(shapeOf(launch.cut({{{}, all}, {{}, all}, {{}, all}})), shapeOf(launch.plan()));
}

TEST(Boundary, whatDepartsInFullStaysWhole) {
  const Stencil launch(stencil());
  const ByteSet all(0, 64 * row);
  EXPECT_EQ(shapeOf(launch.cut({{all, {}}, {all, {}}, {all, {}}})), shapeOf(launch.plan()));
  // A half of it as well.
  Departing half = halos();
  half[0][0] = ByteSet(10 * row, 20 * row);
  EXPECT_EQ(shapeOf(launch.cut(half))[0], (std::array<std::uint64_t, 3>{0, 0, 20}));
}

TEST(Boundary, whatReadsItsNeighboursInPlaceStaysWhole) {
  // Every element is read by the groups beside it, in the buffer that is written: one order of the
  // groups may be as right as another, but it is not for the cut to choose.
  Stencil launch(stencil());
  launch.request.buffers = {{0, 0, 0}, {1, 0, 0}};
  launch.request.bufferCount = 1;
  LaunchPlan plan{0, Rung::Exact, {planPiece(launch.request, launch.devices(), 0, 0, 0, 20)}, {}};
  const LaunchPlan cut = boundariesFirst(launch.request, launch.devices(), plan, {{halos()[0][0]}});
  EXPECT_EQ(shapeOf(cut), shapeOf(plan));
}

/// A seven-point stencil's worth of a box of `width` * `height` * `depth`: out[G] = in[G - plane] +
/// in[G + plane] inside, where rows neither begin nor end.
struct Box {
  static constexpr std::uint64_t width = 8, height = 400, depth = 400, plane = width * height;
  Box() {
    const Expr x = Expr::id(Expr::Op::GlobalId, 0), y = Expr::id(Expr::Op::GlobalId, 1),
               z = Expr::id(Expr::Op::GlobalId, 2);
    const Expr at = Expr::constant(plane) * z + Expr::constant(width) * y + x;
    const Expr below = at + Expr::constant(-static_cast<std::int64_t>(plane));
    summary.name = "stencil";
    summary.parameters = {{"out", "float*", ParameterKind::GlobalBuffer, 0},
                          {"in", "float*", ParameterKind::GlobalBuffer, 0}};
    summary.accesses = {access(1, Effect::Read, Expr::constant(4) * below),
                        access(1, Effect::Read, Expr::constant(4) * (at + Expr::constant(plane))),
                        access(0, Effect::Write, Expr::constant(4) * at)};
    for (Access& each : summary.accesses)
      for (const auto& [id, end] : {std::pair(x, width - 1), std::pair(z, depth - 1)}) {
        each.guards.push_back({Expr::constant(0), Guard::Relation::Less, id});
        each.guards.push_back(
            {id, Guard::Relation::Less, Expr::constant(static_cast<std::int64_t>(end))});
      }
    request.range = {3, {}, {width, height, depth}, {width, height, 1}};
    request.arguments.resize(2);
    request.arguments[0].bufferSize = request.arguments[1].bufferSize = 4 * plane * depth;
    request.buffers = {{0, 0, 0}, {1, 1, 0}};
    request.bufferCount = 2;
  }
  KernelSummary summary;
  LaunchRequest request;
};

TEST(Boundary, whatIsKnownMoreExactlyOfPartsIsDoneFirstToo) {
  const Box box;
  const std::vector<PlanDevice> devices = {{1, &box.summary}, {2, &box.summary}};
  const std::vector<std::uint64_t> halves = {200, 200};
  const LaunchPlan whole = std::get<LaunchPlan>(planCut(box.request, devices, 2, halves));
  const ByteSet& written = whole.pieces[0].uses[0].writes;
  ASSERT_GT(written.size(), 199 * Box::height * 6 * 4) << "so many rows are known by their planes";
  const auto halo = [&](std::size_t of, std::size_t by) {
    return intersect(whole.pieces[of].uses[1].needs, whole.pieces[by].uses[0].writes);
  };
  const LaunchPlan cut =
      boundariesFirst(box.request, devices, whole, {{halo(1, 0), {}}, {halo(0, 1), {}}});
  ASSERT_EQ(cut.pieces.size(), 4u);
  EXPECT_EQ(cut.pieces[0].box.begin[2], 199u);
  EXPECT_EQ(cut.pieces[0].uses[0].writes.size(), Box::height * 6 * 4);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(written.contains(cut.pieces[i].uses[0].writes));
    EXPECT_TRUE(whole.pieces[0].uses[1].needs.contains(cut.pieces[i].uses[1].needs));
  }
}

} // namespace
} // namespace libsplit::runtime
