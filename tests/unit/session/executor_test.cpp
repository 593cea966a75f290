#include "runtime/session/executor.h"

#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace libsplit::runtime {
namespace {

struct PieceWorld : World {
  Merger merger{shared, issuer, mover};
  GroupShapes shapes{shared};
  Executor executor{shared, provider, issuer, mover, merger, shapes, nothingIsBuilt};
  Launch launch;

  PieceWorld() { launch.buffers = {buffer(someBytes(256))}; }
  /// On `device`, reads and writes these bytes of the buffer.
  static Piece piece(std::size_t device, ByteSet reads, ByteSet writes) {
    Piece piece;
    piece.device = device;
    piece.uses = {{std::move(reads), std::move(writes), {}, {}}};
    return piece;
  }
  std::vector<CompletionPtr> before(const Piece& piece) const {
    std::vector<CompletionPtr> after;
    executor.collectBefore(launch, piece, after);
    return after;
  }
};

TEST(Executor, OrdersPiecesByTheBytesThatTheyShareOnANode) {
  PieceWorld world;
  const CompletionPtr done = world.completion();
  world.executor.book(world.launch, PieceWorld::piece(0, {}, {0, 128}), done);
  EXPECT_EQ(world.before(PieceWorld::piece(0, {64, 65}, {})), std::vector{done});
  EXPECT_EQ(world.before(PieceWorld::piece(0, {}, {100, 200})), std::vector{done});
  EXPECT_TRUE(world.before(PieceWorld::piece(0, {128, 256}, {128, 256})).empty());
  EXPECT_TRUE(world.before(PieceWorld::piece(1, {64, 65}, {})).empty()) << "another memory";
  done->finish(CL_SUCCESS);
}

TEST(Executor, BooksWhatAPieceWritesForItsNodeAlone) {
  PieceWorld world;
  const CompletionPtr done = world.completion();
  world.executor.book(world.launch, PieceWorld::piece(1, {0, 64}, {64, 128}), done);
  const Directory& directory = world.launch.buffers[0]->directory();
  EXPECT_TRUE(directory.isValid(world.nodeOf(1), {64, 128}));
  EXPECT_FALSE(directory.isValid(world.nodeOf(0), {64, 128}));
  EXPECT_TRUE(directory.isValid(world.nodeOf(0), {0, 64}));
  done->finish(CL_SUCCESS);
}

TEST(Executor, TakesBackWhatWasBookedForAPieceThatWasNeverDone) {
  PieceWorld world;
  const CompletionPtr done = world.completion();
  world.executor.book(world.launch, PieceWorld::piece(1, {}, {0, 64}), done);
  done->finish(CL_OUT_OF_RESOURCES);
  world.launch.buffers[0]->settle();
  EXPECT_TRUE(world.launch.buffers[0]->directory().isValid(world.nodeOf(0), {0, 256}));
}

TEST(Executor, LeavesBytesThatAreToBeMergedToNobody) {
  PieceWorld world;
  const CompletionPtr done = world.completion();
  Piece piece = PieceWorld::piece(1, {0, 64}, {});
  piece.uses[0].merged = {0, 64};
  world.executor.book(world.launch, piece, done);
  EXPECT_FALSE(world.launch.buffers[0]->directory().isValid(world.nodeOf(1), {0, 64}));
  done->finish(CL_SUCCESS);
}

TEST(Executor, ReservesNothingOnADeviceThatFailed) {
  PieceWorld world;
  world.shared.machine->devices()[1].failed = true;
  Provisions pending;
  Task task;
  EXPECT_NE(world.executor.reserveOn(task, world.launch, 1, {}, pending), "");
  EXPECT_EQ(world.launch.lacksRoom, std::optional<std::size_t>(1));
  EXPECT_TRUE(pending.empty());
}

} // namespace
} // namespace libsplit::runtime
