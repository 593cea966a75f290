#include "runtime/program/compiled_graph.h"

#include "runtime/program/program.h"
#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace libsplit::runtime {
namespace {

Argument value(int number) {
  Argument argument;
  argument.isSet = true;
  argument.size = sizeof number;
  argument.value.assign(std::as_bytes(std::span(&number, 1)));
  return argument;
}

/// A launch of two halves of a buffer, on both devices.
struct Halves : World {
  std::vector<std::shared_ptr<Buffer>> buffers{buffer(someBytes(256))};
  std::vector<Parameter> parameters{
      {.name = "rows", .type = "int", .kind = ParameterKind::Scalar, .size = 4},
      {.name = "to", .type = "int*", .kind = ParameterKind::GlobalBuffer}};
  std::vector<Argument> arguments{value(1), value(2)};
  bool localGiven = true;
  std::uint64_t shapes = 1;
  Timing timing = Timing::On;
  std::shared_ptr<const LaunchPlan> plan = halves();
  std::shared_ptr<const InstructionGraph> graph = lowered();
  CompiledGraphs memo;

  Halves() {
    makeRoom(*buffers[0], 1);
    keep();
  }
  static std::shared_ptr<const LaunchPlan> halves() {
    LaunchPlan plan;
    plan.pieces = {{0, {}, {{{}, {0, 128}, {}, {}}}}, {1, {}, {{{}, {128, 256}, {}, {}}}}};
    return std::make_shared<const LaunchPlan>(std::move(plan));
  }
  std::shared_ptr<const InstructionGraph> lowered() {
    Directory directory = buffers[0]->directory();
    Directory* const all[] = {&directory};
    const std::vector<NodeId> nodes = {nodeOf(0), nodeOf(1)};
    return std::make_shared<const InstructionGraph>(lower(plan, nodes, all));
  }
  LaunchInputs inputs() const {
    return {plan.get(), localGiven, shapes, timing, parameters, buffers, arguments};
  }
  std::shared_ptr<const CompiledGraph> keep() {
    auto compiled = std::make_shared<const CompiledGraph>(graph, plan, inputs());
    memo.keep(compiled);
    return compiled;
  }
  bool isKnown() const { return memo.find(*graph, inputs()) != nullptr; }
  bool hasPlace() const { return memo.findPlaced(inputs()) != nullptr; }
};

TEST(CompiledGraph, IsUsedAgainWhereALaunchAsksForTheSame) {
  Halves world;
  EXPECT_TRUE(world.isKnown());
  EXPECT_TRUE(world.hasPlace());
}

TEST(CompiledGraph, TakesNumbersFromTheLaunch) {
  Halves world;
  world.arguments[0] = value(3);
  EXPECT_TRUE(world.isKnown());
  EXPECT_TRUE(world.hasPlace());
}

TEST(CompiledGraph, IsAnotherForOtherHandles) {
  Halves world;
  world.arguments[1] = value(3); // another part of the same buffer, or none
  EXPECT_FALSE(world.isKnown());
  EXPECT_TRUE(world.hasPlace()) << "these take no other room";
  world.keep();
  EXPECT_TRUE(world.isKnown());
}

TEST(CompiledGraph, IsAnotherForOtherSizesAndRanges) {
  Halves world;
  world.localGiven = false;
  EXPECT_FALSE(world.isKnown());
  EXPECT_FALSE(world.hasPlace());
  world.localGiven = true;
  world.arguments[0].size = 4096; // as of local memory
  EXPECT_FALSE(world.isKnown());
  EXPECT_FALSE(world.hasPlace());
}

TEST(CompiledGraph, IsAnotherWhereItsCommandsAreNotTimed) {
  Halves world;
  world.timing = Timing::Off;
  EXPECT_FALSE(world.isKnown()) << "they go to other queues";
  EXPECT_TRUE(world.hasPlace());
}

TEST(CompiledGraph, IsAnotherWhereGroupsHaveAnotherSize) {
  Halves world;
  ++world.shapes;
  EXPECT_FALSE(world.isKnown());
  EXPECT_TRUE(world.hasPlace());
}

TEST(CompiledGraph, IsAnotherForOtherBuffersAndCopies) {
  Halves world;
  const auto first = std::exchange(world.buffers[0], world.buffer(someBytes(256)));
  world.makeRoom(*world.buffers[0], 1);
  EXPECT_FALSE(world.isKnown());
  EXPECT_FALSE(world.hasPlace());
  world.buffers[0] = first;
  EXPECT_TRUE(world.isKnown());
  first->drop(*world.shared.machine, 1);
  world.makeRoom(*first, 1);
  EXPECT_FALSE(world.isKnown()) << "another copy may have the handle of the one before";
  EXPECT_FALSE(world.hasPlace());
}

TEST(CompiledGraph, IsAnotherForAnotherPlan) {
  Halves world;
  const auto plan = std::exchange(world.plan, Halves::halves());
  EXPECT_FALSE(world.hasPlace());
  world.graph = world.lowered();
  EXPECT_FALSE(world.isKnown());
}

TEST(CompiledGraph, KeepsNoBufferAlive) {
  Halves world;
  const std::weak_ptr<Buffer> buffer = world.buffers[0];
  world.buffers.clear();
  EXPECT_TRUE(buffer.expired());
}

TEST(CompiledGraph, SaysWhatItsKernelsDoToABuffer) {
  Halves world;
  const auto compiled = world.memo.find(*world.graph, world.inputs());
  ASSERT_TRUE(compiled && compiled->changes[0]);
  const Journal::Changes& changes = *compiled->changes[0];
  EXPECT_EQ(changes.before, world.graph->states[0].arrived);
  ASSERT_EQ(changes.each.size(), 2);
  for (std::size_t p = 0; p < 2; ++p) {
    EXPECT_EQ(changes.each[p].effect, Journal::Effect::Writes);
    EXPECT_EQ(changes.each[p].node, world.nodeOf(p));
    EXPECT_EQ(changes.each[p].by, p);
  }
}

TEST(CompiledGraph, CountsWhatARepeaterWroteWhereNobodyElseDid) {
  // Of two halves each also has the next quarter of the other; the helper's kernel fails.
  Halves world;
  LaunchPlan plan = *world.plan;
  plan.pieces[0].uses[0].repeats = ByteSet(128, 192);
  plan.pieces[1].uses[0].repeats = ByteSet(64, 128);
  world.plan = std::make_shared<const LaunchPlan>(std::move(plan));
  world.graph = world.lowered();
  const NodeId home = world.nodeOf(0), helper = world.nodeOf(1);
  const auto settled = [&](Outcome ofHome, Outcome ofHelper) {
    auto ends = std::make_shared<Journal::Ends>();
    for (const Outcome outcome : {ofHome, ofHelper}) {
      ends->kernels.push_back(world.completion());
      ends->kernels.back()->finish(outcome == Outcome::Succeeded ? CL_SUCCESS : CL_OUT_OF_RESOURCES,
                                   outcome);
    }
    Directory directory = world.buffers[0]->directory();
    directory.wrote(helper, ByteSet(192, 256)); // which is old, and nowhere else
    Journal journal;
    auto changes = std::make_shared<Journal::Changes>(*changesOf(*world.graph, 0));
    changes->before = directory.state();
    journal.note(changes, ends);
    directory.follow(world.graph->states[0].after, true);
    journal.settle(directory);
    return std::pair(directory.valid(home), directory.valid(helper));
  };
  using Valid = std::pair<ByteSet, ByteSet>;
  EXPECT_EQ(settled(Outcome::Succeeded, Outcome::Succeeded),
            Valid(ByteSet(0, 192), ByteSet(64, 256)));
  EXPECT_EQ(settled(Outcome::Succeeded, Outcome::Refused),
            Valid(ByteSet(0, 192), ByteSet(192, 256)));
  EXPECT_EQ(settled(Outcome::Succeeded, Outcome::Failed), Valid(ByteSet(0, 192), ByteSet()));
  EXPECT_EQ(settled(Outcome::Refused, Outcome::Succeeded), Valid(ByteSet(0, 64), ByteSet(64, 256)));
}

TEST(CompiledGraphs, ForgetTheOldest) {
  Halves world;
  for (std::size_t i = 0; i < CompiledGraphs::capacity; ++i) {
    EXPECT_TRUE(world.isKnown());
    world.arguments[1] = value(static_cast<int>(10 + i));
    world.keep();
    world.arguments[1] = value(2);
  }
  EXPECT_FALSE(world.isKnown());
}

} // namespace
} // namespace libsplit::runtime
