#include "runtime/plan/instruction_graph.h"

#include "tests/unit/runtime/grid.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace libsplit::runtime {
namespace {

constexpr std::uint64_t row = 128, rows = 8;

ByteSet rowsOf(std::uint64_t begin, std::uint64_t end) {
  return {row * begin, row * end};
}

/// Devices 0 and 1 on nodes 1 and 2; buffers of eight rows, of which node 1 has the upper half.
struct Halves {
  explicit Halves(std::size_t buffers) {
    for (std::size_t b = 0; b < buffers; ++b)
      directories.emplace_back(3, 1, row * rows).wrote(2, rowsOf(4, 8));
  }
  std::vector<Directory*> pointers() {
    std::vector<Directory*> all;
    for (Directory& each : directories)
      all.push_back(&each);
    return all;
  }
  InstructionGraph lowered(LaunchPlan plan) {
    return lower(std::make_shared<const LaunchPlan>(std::move(plan)), nodes, pointers());
  }

  const std::vector<NodeId> nodes = {1, 2};
  std::vector<Directory> directories;
};

PieceUse use(ByteSet needs, ByteSet writes) {
  return {std::move(needs), std::move(writes), {}, {}};
}

/// Rows [begin, end) of a stencil from buffer `from` to the other one.
Piece stencil(std::size_t device, std::uint64_t begin, std::uint64_t end, std::size_t from = 0) {
  Piece piece;
  piece.device = device;
  piece.uses.resize(2);
  piece.uses[from] =
      use(rowsOf(begin == 0 ? 0 : begin - 1, end == rows ? rows : end + 1), ByteSet());
  piece.uses[1 - from] = use(ByteSet(), rowsOf(begin, end));
  return piece;
}

/// Boundaries first.
LaunchPlan cutStencil(std::size_t from = 0) {
  LaunchPlan plan;
  plan.pieces = {stencil(0, 3, 4, from), stencil(0, 0, 3, from), stencil(1, 4, 5, from),
                 stencil(1, 5, 8, from)};
  return plan;
}

TEST(InstructionGraph, LetsInteriorsRunWhileHalosTravel) {
  Halves world(2);
  const InstructionGraph graph = world.lowered(cutStencil());
  EXPECT_EQ(toString(graph), "copy 0: buffer 0 from node 2 to 1, [512,640)\n"
                             "copy 1: buffer 0 from node 1 to 2, [384,512)\n"
                             "kernel 0: piece 0 on node 1, after copy 0\n"
                             "kernel 1: piece 1 on node 1\n"
                             "kernel 2: piece 2 on node 2, after copy 1\n"
                             "kernel 3: piece 3 on node 2\n");
}

/// Who enqueues them does it one after the other, and no device is to wait for all of another's.
TEST(InstructionGraph, HasDevicesBeginInTurns) {
  Halves world(2);
  LaunchPlan plan = cutStencil();
  plan.pieces.insert(plan.pieces.begin() + 1, stencil(0, 2, 3));
  EXPECT_EQ(world.lowered(std::move(plan)).order, (std::vector<std::size_t>{0, 3, 1, 4, 2}));
}

TEST(InstructionGraph, NeedsNoCopyForWhatIsThere) {
  Halves world(1);
  LaunchPlan plan;
  for (const std::size_t device : {0, 1}) {
    Piece piece;
    piece.device = device;
    piece.uses = {use(rowsOf(4 * device, 4 * device + 4), rowsOf(4 * device, 4 * device + 4))};
    plan.pieces.push_back(piece);
  }
  EXPECT_EQ(toString(world.lowered(plan)), "kernel 0: piece 0 on node 1\n"
                                           "kernel 1: piece 1 on node 2\n");
}

TEST(InstructionGraph, OverwritesWhatOthersReadOnceThatHasLeft) {
  Halves world(1);
  // In place: each reads a row of the other's.
  LaunchPlan plan;
  plan.pieces.resize(2);
  plan.pieces[0].device = 0;
  plan.pieces[0].uses = {use(rowsOf(0, 5), rowsOf(0, 4))};
  plan.pieces[1].device = 1;
  plan.pieces[1].uses = {use(rowsOf(4, 8), rowsOf(4, 8))};
  EXPECT_EQ(toString(world.lowered(plan)), "copy 0: buffer 0 from node 2 to 1, [512,640)\n"
                                           "kernel 0: piece 0 on node 1, after copy 0\n"
                                           "kernel 1: piece 1 on node 2, once copy 0 has left\n");
}

TEST(InstructionGraph, SaysWhatIsValidAfterIt) {
  Halves world(2);
  const InstructionGraph graph = world.lowered(cutStencil());
  EXPECT_EQ(graph.states[0].before, (Directory::State{{}, rowsOf(0, 4), rowsOf(4, 8)}));
  EXPECT_EQ(graph.states[0].arrived, (Directory::State{{}, rowsOf(0, 5), rowsOf(3, 8)}));
  EXPECT_EQ(graph.states[0].after, graph.states[0].arrived);
  EXPECT_EQ(graph.states[1].after, (Directory::State{{}, rowsOf(0, 4), rowsOf(4, 8)}));
  EXPECT_FALSE(graph.changes(0));
  EXPECT_TRUE(graph.changes(1));
  for (std::size_t b = 0; b < 2; ++b)
    EXPECT_EQ(world.directories[b].state(), graph.states[b].after);
}

TEST(InstructionGraph, LeavesToNobodyWhatIsMerged) {
  Halves world(1);
  LaunchPlan plan;
  plan.pieces.resize(1);
  plan.pieces[0].device = 1;
  plan.pieces[0].uses = {{rowsOf(4, 8), {}, rowsOf(4, 6), {}}};
  const InstructionGraph graph = world.lowered(plan);
  EXPECT_EQ(graph.states[0].after, (Directory::State{{}, rowsOf(0, 4), rowsOf(6, 8)}));
}

TEST(GraphMemo, KnowsAGraphWhereThePlanAndTheBytesAreTheSame) {
  Halves world(2);
  const auto plan = std::make_shared<const LaunchPlan>(cutStencil());
  const auto back = std::make_shared<const LaunchPlan>(cutStencil(1));
  GraphMemo memo;
  std::size_t lowerings = 0;
  auto launch = [&](const std::shared_ptr<const LaunchPlan>& which) {
    const auto directories = world.pointers();
    auto graph = memo.find(*which, directories);
    if (!graph) {
      ++lowerings;
      graph = std::make_shared<const InstructionGraph>(lower(which, world.nodes, directories));
      memo.keep(graph);
    }
    for (std::size_t b = 0; b < directories.size(); ++b)
      directories[b]->follow(graph->states[b].after, graph->changes(b));
    return graph;
  };
  launch(plan); // each with what was left of the beginning
  launch(back);
  const auto there = launch(plan), returned = launch(back);
  lowerings = 0;
  EXPECT_EQ(there->copies.size(), 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(launch(plan), there);
    EXPECT_EQ(launch(back), returned);
  }
  EXPECT_EQ(lowerings, 0);
  world.directories[0].wrote(0, rowsOf(0, 1));
  EXPECT_NE(launch(plan), there) << "the bytes are elsewhere";
}

TEST(GraphMemo, KnowsBytesThatOnlyLookTheSame) {
  constexpr std::uint64_t width = 64, height = 100; // more ranges than are compared each time
  const auto plan = std::make_shared<const LaunchPlan>(cutStencil());
  const auto spread = [&](Halves& world, std::uint64_t end) {
    for (Directory& each : world.directories) {
      each = Directory(3, 1, width * height);
      each.wrote(2, interior(10, end, width));
    }
  };
  Halves first(2), second(2);
  spread(first, height);
  spread(second, height);
  ASSERT_FALSE(second.directories[0].isKnownToBe(first.directories[0].state()));
  EXPECT_TRUE(second.directories[0].is(first.directories[0].state()));
  GraphMemo memo;
  memo.keep(std::make_shared<const InstructionGraph>(lower(plan, first.nodes, first.pointers())));
  const auto found = memo.find(*plan, second.pointers());
  ASSERT_TRUE(found);
  second.directories[0].follow(found->states[0].before, false);
  EXPECT_TRUE(second.directories[0].isKnownToBe(found->states[0].before));
  Halves other(2);
  spread(other, height - 1);
  EXPECT_FALSE(other.directories[0].is(found->states[0].before));
  EXPECT_EQ(memo.find(*plan, other.pointers()), nullptr);
}

TEST(InstructionGraph, LeavesValidOnBothWhatIsRepeated) {
  Halves world(2);
  LaunchPlan plan;
  plan.pieces = {stencil(0, 0, 4), stencil(1, 4, 8)};
  plan.pieces[0].uses[0].needs = rowsOf(0, 6);
  plan.pieces[0].uses[1].repeats = rowsOf(4, 5);
  plan.pieces[1].uses[0].needs = rowsOf(2, 8);
  plan.pieces[1].uses[1].repeats = rowsOf(3, 4);
  const InstructionGraph graph = world.lowered(plan);
  EXPECT_EQ(graph.states[1].after, (Directory::State{{}, rowsOf(0, 5), rowsOf(3, 8)}));
  EXPECT_EQ(graph.kernels[0].stores[1], rowsOf(0, 5));
  EXPECT_EQ(graph.kernels[1].stores[1], rowsOf(3, 8));
}

TEST(GraphMemo, ForgetsTheOldest) {
  Halves world(2);
  GraphMemo memo;
  std::vector<std::shared_ptr<const InstructionGraph>> graphs;
  for (std::size_t i = 0; i <= GraphMemo::capacity; ++i) {
    Halves same(2);
    graphs.push_back(std::make_shared<const InstructionGraph>(same.lowered(cutStencil())));
    memo.keep(graphs.back());
  }
  EXPECT_EQ(memo.find(*graphs[0]->plan, world.pointers()), nullptr);
  EXPECT_EQ(memo.find(*graphs[1]->plan, world.pointers()), graphs[1]);
}

} // namespace
} // namespace libsplit::runtime
