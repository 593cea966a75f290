// What becomes of a buffer's bytes, copies and books when it is let go of.
#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

struct IdleBuffer : testing::Test {
  World world;
  Machine& machine = *world.shared.machine;
  const Bytes bytes = someBytes(5000);
  const std::shared_ptr<Buffer> buffer = world.buffer(bytes);
  const Ref<cl_mem> programs = Ref<cl_mem>::retain(world.cl, buffer->home());
  const NodeId home = world.nodeOf(0), node = world.nodeOf(1);

  void bring(NodeId to, const ByteSet& part) {
    Task task;
    world.mover.bring(task, *buffer, to, part);
    ASSERT_EQ(await(task), CL_SUCCESS);
  }
};

TEST_F(IdleBuffer, GoesWithItsCopiesAndIsAsNewWhenItIsTrackedAgain) {
  bring(node, ByteSet(0, 5000));
  EXPECT_EQ(buffer->bytesElsewhere(machine), 5000U);
  ASSERT_TRUE(buffer->mayBeLetGo(machine));
  buffer->letGo();
  world.tracked.forgetLetGo(world.tracked.buffers());
  EXPECT_FALSE(buffer->engaged());
  EXPECT_TRUE(world.shared.isQuiet());
  EXPECT_TRUE(world.tracked.buffers().empty());
  EXPECT_EQ(buffer->bytesElsewhere(machine), 0U);
  EXPECT_FALSE(buffer->on(machine, 1));

  const Bytes other = someBytes(5000, 1);
  world.write(*buffer, 0, 0, other); // the program does, and nobody keeps book of it
  world.tracked.track(*buffer);
  world.makeRoom(*buffer, 1);
  EXPECT_FALSE(world.shared.isQuiet());
  bring(node, ByteSet(0, 5000));
  EXPECT_EQ(world.read(*buffer, 1), other);
}

TEST_F(IdleBuffer, StaysWhileHomeLacksSome) {
  bring(node, ByteSet(0, 5000));
  buffer->wrote(node, ByteSet(100, 200));
  EXPECT_FALSE(buffer->mayBeLetGo(machine));
  bring(home, ByteSet(100, 200));
  EXPECT_TRUE(buffer->mayBeLetGo(machine));
}

TEST_F(IdleBuffer, StaysWhileTheProgramHasMappedIt) {
  buffer->maps.push_back({buffer->home(), nullptr});
  EXPECT_FALSE(buffer->mayBeLetGo(machine));
  buffer->maps.clear();
  EXPECT_TRUE(buffer->mayBeLetGo(machine));
}

TEST_F(IdleBuffer, StaysWhileItIsKnownWhatItHolds) {
  buffer->contents().onHost = ByteSet(0, 8);
  EXPECT_FALSE(buffer->mayBeLetGo(machine));
}

TEST_F(IdleBuffer, StaysWhileAnythingWorksOnIt) {
  const CompletionPtr work = world.completion();
  buffer->accesses().add({node, ByteSet(0, 10), {}, work});
  EXPECT_FALSE(buffer->mayBeLetGo(machine));
  work->finish(CL_SUCCESS);
  EXPECT_TRUE(buffer->mayBeLetGo(machine));
}

TEST_F(IdleBuffer, StaysWhereSomethingFailed) {
  const CompletionPtr work = world.completion();
  buffer->journal().note(buffer->directory().state(), Journal::Effect::Arrives, node,
                         ByteSet(0, 10), {work});
  work->finish(CL_OUT_OF_RESOURCES);
  EXPECT_FALSE(buffer->mayBeLetGo(machine)); // a recovery is to see it
}

TEST_F(IdleBuffer, IsNotLookedForByOthersOfTheSameKind) {
  const auto other = world.buffer(bytes);
  const auto keeps = Ref<cl_mem>::retain(world.cl, other->home());
  other->letGo();
  world.tracked.forgetLetGo(world.tracked.buffers());
  ASSERT_EQ(world.tracked.buffers().size(), 1U);
  EXPECT_EQ(world.tracked.buffers().front(), buffer);
}

TEST_F(IdleBuffer, MovesThatWereCountedAndNotIssuedNeverWere) {
  const ByteSet all(0, 5000);
  {
    const Directory::Need need{node, &all};
    CountedMoves counted;
    counted.add(*buffer, {&need, 1});
    EXPECT_TRUE(buffer->directory().isValid(node, all));
  }
  EXPECT_FALSE(buffer->directory().isValid(node, ByteSet(0, 1)));
  bring(node, all);
  EXPECT_EQ(world.read(*buffer, 1), bytes);
}

} // namespace
} // namespace libsplit::runtime
