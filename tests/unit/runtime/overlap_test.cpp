#include "runtime/plan/overlap.h"

#include "runtime/plan/instruction_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace libsplit::runtime {
namespace {

// A grid of 4-byte cells, of which a work-group has four rows as wide as the grid.
constexpr std::uint64_t width = 16, groupRows = 4, groupCount = 64;
constexpr std::uint64_t rows = groupRows * groupCount, row = 4 * width;
constexpr std::uint64_t inner = row - 8; // bytes of a row but for its first and last cell

Access access(unsigned parameter, Effect effect, Expr cell) {
  Access made;
  made.parameter = parameter;
  made.effect = effect;
  made.offset = Expr::constant(4) * cell;
  made.length = 4;
  made.certain = true;
  for (const unsigned d : {0U, 1U}) {
    const std::int64_t end = d == 0 ? width : rows;
    const Expr g = Expr::id(Expr::Op::GlobalId, d);
    made.guards.push_back({Expr::constant(0), Guard::Relation::Less, g});
    made.guards.push_back({g, Guard::Relation::Less, Expr::constant(end - 1)});
  }
  return made;
}

Expr cellAt(std::int64_t x, std::int64_t y) {
  const Expr gx = Expr::id(Expr::Op::GlobalId, 0), gy = Expr::id(Expr::Op::GlobalId, 1);
  return Expr::constant(width) * (gy + Expr::constant(y)) + gx + Expr::constant(x);
}

/// out = in above + in below + in left + in right, of inner cells.
KernelSummary stencil() {
  KernelSummary summary;
  summary.name = "stencil";
  summary.parameters = {{"out", "float*", ParameterKind::GlobalBuffer, 0},
                        {"in", "float*", ParameterKind::GlobalBuffer, 0}};
  for (const auto& [x, y] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}})
    summary.accesses.push_back(access(1, Effect::Read, cellAt(x, y)));
  summary.accesses.push_back(access(0, Effect::Write, cellAt(0, 0)));
  return summary;
}

/// Iterations over two buffers that change places, by devices on nodes 1, 2, ...
class Grid {
public:
  explicit Grid(std::vector<std::uint64_t> groups, KernelSummary kernel = stencil())
      : summary(std::move(kernel)), groups_(std::move(groups)), kinds(groups_.size(), 1) {
    request.range.dimensions = 2;
    request.range.global = {width, rows, 1};
    request.range.local = {width, groupRows, 1};
    request.arguments.resize(2);
    request.arguments[0].bufferSize = request.arguments[1].bufferSize = row * rows;
    request.buffers = {{0, 0, 0}, {1, 1, 0}};
    request.bufferCount = 2;
    for (std::size_t b = 0; b < 2; ++b)
      directories.emplace_back(groups_.size() + 1, 1, row * rows);
    nodes.resize(groups_.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      nodes[i] = static_cast<NodeId>(i + 1);
  }

  std::vector<PlanDevice> devices() const {
    std::vector<PlanDevice> all;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      all.push_back({nodes[i], &summary, false, kinds[i]});
    return all;
  }
  std::shared_ptr<const LaunchPlan> whole() {
    if (!plan_) {
      PlanResult result = planCut(request, devices(), 1, groups_);
      if (const auto* reason = std::get_if<Reason>(&result))
        throw std::runtime_error(reason->text);
      plan_ = std::make_shared<const LaunchPlan>(std::get<LaunchPlan>(std::move(result)));
    }
    return plan_;
  }
  /// By the launch's buffers: what it writes, what it reads.
  std::vector<Directory*> order(bool swapped = false) {
    return swapped ? std::vector{&directories[1], &directories[0]}
                   : std::vector{&directories[0], &directories[1]};
  }
  std::shared_ptr<const LaunchPlan> extended(std::uint64_t depth) {
    return overlaps.extend(request, devices(), whole(), depth, order());
  }
  /// Each has its own rows of both buffers, with the edges.
  void distribute() {
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const std::uint64_t end = begin + groups_[i];
      for (Directory& each : directories)
        each.wrote(nodes[i], {begin * groupRows * row, end * groupRows * row});
      begin = end;
    }
  }

  struct Exchanged {
    unsigned launches = 0; ///< that moved anything
    std::uint64_t bytes = 0;
    bool operator==(const Exchanged&) const = default;
  };
  /// By the nodes from and to which bytes go.
  using Traffic = std::map<std::pair<NodeId, NodeId>, Exchanged>;
  /// Goes on with so many steps.
  Traffic run(unsigned steps, std::uint64_t depth) {
    Traffic traffic;
    for (unsigned i = 0; i < steps; ++i) {
      const std::vector<Directory*> buffers = order(step_++ % 2 == 1);
      const auto plan = overlaps.extend(request, devices(), whole(), depth, buffers);
      std::shared_ptr<const InstructionGraph> graph = graphs.find(*plan, buffers);
      if (!graph) {
        ++lowerings;
        graph = std::make_shared<const InstructionGraph>(lower(plan, nodes, buffers));
        graphs.keep(graph);
      }
      for (std::size_t b = 0; b < buffers.size(); ++b)
        buffers[b]->follow(graph->states[b].after, graph->changes(b));
      std::map<std::pair<NodeId, NodeId>, std::uint64_t> moved;
      for (const InstructionGraph::Copy& copy : graph->copies)
        moved[{copy.move.from, copy.move.to}] += copy.move.bytes.size();
      for (const auto& [way, bytes] : moved) {
        ++traffic[way].launches;
        traffic[way].bytes += bytes;
      }
      last = plan;
    }
    return traffic;
  }

  KernelSummary summary;
  LaunchRequest request;
  std::vector<NodeId> nodes;
  std::vector<Directory> directories;
  Overlaps overlaps;
  GraphMemo graphs;
  unsigned lowerings = 0;
  std::shared_ptr<const LaunchPlan> last;

private:
  std::vector<std::uint64_t> groups_;
  std::shared_ptr<const LaunchPlan> plan_;
  unsigned step_ = 0;

public:
  std::vector<unsigned> kinds; ///< by device
};

/// Groups that each piece runs.
using Shape = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
Shape shapeOf(const LaunchPlan& plan) {
  Shape shape;
  for (const Piece& piece : plan.pieces)
    shape.emplace_back(piece.box.begin[plan.dimension], piece.box.end[plan.dimension]);
  return shape;
}

ByteSet rowsOf(std::uint64_t begin, std::uint64_t end) {
  return {row * begin, row * end};
}

/// … without the first and the last cell of each.
ByteSet innerOf(std::uint64_t begin, std::uint64_t end) {
  ByteSet set;
  for (std::uint64_t r = begin; r < end; ++r)
    set.add({r * row + 4, (r + 1) * row - 4});
  return set;
}

/// Between neighbours, in 60 launches: each exchange brings what the launches up to the next take,
/// with the cells at the ends of rows that lie between.
Grid::Traffic expected(std::size_t nodes, unsigned depth) {
  Grid::Traffic traffic;
  const unsigned exchanges = 60 / (depth + 1);
  for (NodeId node = 1; node < nodes; ++node)
    traffic[{node, node + 1}] =
        traffic[{node + 1, node}] = {exchanges, exchanges * (groupRows * depth * row + inner)};
  return traffic;
}

TEST(Overlap, ExchangesMoreLessOften) {
  for (const unsigned depth : {0U, 1U, 2U, 4U, 9U}) {
    SCOPED_TRACE(depth);
    Grid two({32, 32});
    two.run(20, depth);
    EXPECT_EQ(two.run(60, depth), expected(2, depth));
    Grid four({17, 15, 12, 20});
    four.run(20, depth);
    EXPECT_EQ(four.run(60, depth), expected(4, depth));
  }
}

TEST(Overlap, GoesLessFarWithEachLaunchUntilItExchanges) {
  Grid grid({20, 24, 20});
  grid.distribute();
  const std::vector<Shape> shapes = {
      {{0, 22}, {18, 46}, {42, 64}}, {{0, 21}, {19, 45}, {43, 64}}, {{0, 20}, {20, 44}, {44, 64}}};
  for (unsigned i = 0; i < 9; ++i) {
    grid.run(1, 2);
    EXPECT_EQ(shapeOf(*grid.last), shapes[i % 3]) << "launch " << i;
    for (std::size_t p = 0; p < 3; ++p)
      EXPECT_EQ(grid.last->pieces[p].ownBox(), grid.whole()->pieces[p].box);
  }
  EXPECT_EQ(grid.last, grid.whole()) << "there is nothing to add to it";
}

TEST(Overlap, RepeatsWhatIsValidOnBothThen) {
  Grid grid({32, 32});
  grid.distribute();
  grid.run(1, 2);
  const Piece& first = grid.last->pieces[0];
  EXPECT_EQ(first.uses[0].writes, innerOf(1, 128)) << "is its own";
  EXPECT_EQ(first.uses[0].repeats, innerOf(128, 136));
  EXPECT_TRUE(first.uses[0].stores().contains(innerOf(1, 136)));
  EXPECT_TRUE(first.uses[1].needs.contains(unite(rowsOf(1, 136), innerOf(136, 137))));
  EXPECT_FALSE(first.uses[1].needs.intersects(rowsOf(137, 256)));
  const Directory& written = grid.directories[0];
  EXPECT_TRUE(written.isValid(1, rowsOf(0, 136))) << "with the edges, for which nobody asked yet";
  EXPECT_FALSE(written.valid(1).intersects(innerOf(136, 256)));
  EXPECT_TRUE(written.isValid(2, rowsOf(120, 256)));
  EXPECT_FALSE(written.valid(2).intersects(innerOf(1, 120)));
}

TEST(Overlap, EndsWhereTheGridDoes) {
  Grid grid({2, 60, 2});
  grid.distribute();
  grid.run(1, 4);
  EXPECT_EQ(shapeOf(*grid.last), (Shape{{0, 6}, {0, 64}, {58, 64}}));
  // Over several neighbours as well, as long as they are alike.
  Grid thin({20, 2, 42});
  thin.distribute();
  thin.run(1, 4);
  EXPECT_EQ(shapeOf(*thin.last), (Shape{{0, 24}, {16, 26}, {18, 64}}));
}

TEST(Overlap, IsForEqualDevicesWithMemoriesOfTheirOwn) {
  Grid grid({16, 16, 16, 16});
  grid.distribute();
  EXPECT_EQ(shapeOf(*grid.extended(3)), (Shape{{0, 19}, {13, 35}, {29, 51}, {45, 64}}));
  Grid mixed({16, 16, 16, 16});
  mixed.kinds = {1, 2, 2, 1};
  mixed.distribute();
  EXPECT_EQ(mixed.extended(3), mixed.whole()) << "others exchange at every launch";
  Grid unknown({32, 32});
  unknown.kinds = {0, 0};
  unknown.distribute();
  EXPECT_EQ(unknown.extended(3), unknown.whole());
  Grid together({16, 16, 32});
  together.nodes = {1, 1, 2};
  together.distribute();
  EXPECT_EQ(together.extended(3), together.whole());
}

TEST(Overlap, IsForFunctionsOfWhatTheyRead) {
  const auto isRefused = [](KernelSummary kernel) {
    Grid grid({32, 32}, std::move(kernel));
    grid.distribute();
    return grid.extended(2) == grid.whole();
  };
  EXPECT_FALSE(isRefused(stencil()));
  KernelSummary ordered = stencil();
  ordered.dependsOnOrder = true;
  EXPECT_TRUE(isRefused(ordered));
  KernelSummary inPlace = stencil();
  inPlace.accesses.push_back(access(0, Effect::Read, cellAt(0, 0)));
  EXPECT_TRUE(isRefused(inPlace)) << "it reads what it writes";
  KernelSummary updates = stencil();
  updates.accesses.push_back(access(0, Effect::Update, cellAt(0, 0)));
  EXPECT_TRUE(isRefused(updates));
  KernelSummary rewrites = stencil();
  rewrites.accesses.push_back(access(0, Effect::Rewrite, cellAt(0, 0)));
  EXPECT_TRUE(isRefused(rewrites));
  KernelSummary loads = stencil();
  loads.accesses[0].guards.push_back(
      {Expr::load(1, Expr::constant(0), 32, true), Guard::Relation::Less, Expr::constant(1)});
  EXPECT_TRUE(isRefused(loads)) << "what it reads depends on what buffers hold";
  Grid oneBuffer({32, 32});
  oneBuffer.request.buffers = {{0, 0, 0}, {1, 0, row * rows}};
  oneBuffer.directories[0] = Directory(3, 1, 2 * row * rows);
  oneBuffer.directories[0].wrote(2, {row * rows * 3 / 2, 2 * row * rows});
  EXPECT_EQ(oneBuffer.extended(2), oneBuffer.whole()) << "of one buffer it reads and writes parts";
}

TEST(Overlap, WhatSeveralGroupsWriteIsWrittenByAllOfThemOrNone) {
  // Each row is written by two groups, from the rows around it.
  const Expr gx = Expr::id(Expr::Op::GlobalId, 0), gy = Expr::id(Expr::Op::GlobalId, 1);
  const Expr pair = Expr::node(Expr::Op::DivFloor, {gy, Expr::constant(8)});
  const auto rowAt = [&](std::int64_t y) {
    return Expr::constant(row) * (pair + Expr::constant(y)) + Expr::constant(4) * gx;
  };
  for (const bool certain : {true, false}) {
    KernelSummary summary = stencil();
    summary.accesses.clear();
    for (const std::int64_t y : {-1, 1}) {
      summary.accesses.push_back(access(1, Effect::Read, {}));
      summary.accesses.back().offset = rowAt(y);
    }
    summary.accesses.push_back(access(0, Effect::Write, {}));
    Access& write = summary.accesses.back();
    write.offset = rowAt(0);
    write.certain = certain;
    write.guards.clear();
    for (const std::uint64_t depth : {1U, 2U, 3U, 4U}) {
      Grid grid({20, 24, 20}, summary);
      for (Directory& each : grid.directories) {
        each.wrote(1, {0, 10 * row});
        each.wrote(2, {10 * row, 22 * row});
        each.wrote(3, {22 * row, rows * row});
      }
      const std::uint64_t even = depth / 2 * 2;
      EXPECT_EQ(shapeOf(*grid.extended(depth)),
                (Shape{{0, 20 + even}, {20 - even, 44 + even}, {44 - even, 64}}))
          << depth;
    }
  }
}

TEST(Overlap, BytesThatMayBeWrittenAreThereBefore) {
  KernelSummary summary = stencil();
  summary.accesses.back().certain = false;
  Grid grid({32, 32}, summary);
  grid.distribute();
  EXPECT_EQ(grid.whole()->rung, Rung::Possible);
  const auto plan = grid.extended(2);
  EXPECT_EQ(plan->pieces[0].uses[0].repeats, innerOf(128, 136));
  EXPECT_TRUE(plan->pieces[0].uses[0].needs.contains(innerOf(1, 136)));
  // Later, too: what lacks them goes no further.
  const std::vector<Directory*> buffers = grid.order();
  lower(plan, grid.nodes, buffers);
  grid.directories[0].wrote(2, rowsOf(130, 131));
  EXPECT_EQ(shapeOf(*grid.extended(2)), (Shape{{0, 32}, {30, 64}}));
}

TEST(Overlap, ComesToTheSamePlansAndGraphsAgain) {
  for (const unsigned depth : {1U, 2U, 4U}) {
    Grid grid({17, 15, 12, 20});
    grid.run(40, depth);
    grid.lowerings = 0;
    grid.run(200, depth);
    EXPECT_EQ(grid.lowerings, 0U) << depth;
  }
}

TEST(Overlap, IsOfNoUseWhereWhatIsWantedIsFurtherAway) {
  KernelSummary torus = stencil();
  Access seam = access(1, Effect::Read, cellAt(0, rows - 3));
  seam.guards.push_back(
      {Expr::id(Expr::Op::GlobalId, 1), Guard::Relation::Less, Expr::constant(2)});
  torus.accesses.push_back(seam); // the first row needs the last
  Grid grid({32, 32}, torus);
  grid.distribute();
  EXPECT_EQ(grid.extended(2), grid.whole());
  KernelSummary wide = stencil();
  wide.accesses.push_back(access(1, Effect::Read, cellAt(0, 2 * groupRows)));
  Grid deep({32, 32}, wide);
  deep.distribute();
  EXPECT_EQ(deep.extended(1), deep.whole()) << "a group reads two groups away";
  EXPECT_NE(deep.extended(2), deep.whole());
}

TEST(Overlap, OfKernelsThatReadOneSideOnlyThatSideGoesFurther) {
  KernelSummary upwards;
  upwards.parameters = stencil().parameters;
  upwards.accesses = {access(1, Effect::Read, cellAt(0, 1)),
                      access(0, Effect::Write, cellAt(0, 0))};
  Grid grid({32, 32}, upwards);
  grid.distribute();
  for (unsigned i = 0; i < 9; ++i) {
    grid.run(1, 2);
    EXPECT_EQ(shapeOf(*grid.last), (Shape{{0, 34 - i % 3}, {32, 64}})) << i;
  }
}

} // namespace
} // namespace libsplit::runtime
