#include "runtime/session/merger.h"

#include "runtime/session/executor.h"
#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace libsplit::runtime {
namespace {

/// A launch of two pieces, each of which may change any byte of the one buffer.
struct MergeWorld : World {
  static constexpr std::size_t size = 4096;

  Merger merger{shared, issuer, mover};
  GroupShapes shapes{shared};
  Executor executor{shared, provider, issuer, mover, merger, shapes, nothingIsBuilt};
  Bytes old = someBytes(size);
  LaunchPlan plan;
  Launch launch;
  Task task;

  explicit MergeWorld(std::optional<UpdateKind> update = std::nullopt) {
    launch.buffers = {buffer(old)};
    launch.code = std::make_shared<KernelCode>();
    launch.code->comparers.assign(2, nullptr);
    Merge merge;
    merge.update = update;
    merge.grain = update ? update->width : 1;
    merge.bytes = ByteSet(0, size);
    for (std::size_t on = 0; on < 2; ++on) {
      merge.parts.push_back({nodeOf(on), merge.bytes});
      Piece piece;
      piece.device = on;
      piece.uses.resize(1);
      piece.uses[0].needs = update ? ByteSet() : merge.bytes;
      piece.uses[0].merged = merge.bytes;
      plan.pieces.push_back(piece);
    }
    plan.rung = update ? Rung::Atomics : Rung::Difference;
    plan.merges = {merge};
  }

  /// Up to the pieces: each device starts from the old bytes, or from neutral elements.
  void begin() {
    for (;;) {
      Provisions pending;
      ASSERT_EQ(merger.reserve(launch, plan, pending), "");
      if (pending.empty())
        break;
      for (const auto& each : pending)
        each->make();
    }
    merger.prepare(task, launch, plan);
    launch.ends = std::make_shared<Journal::Ends>();
    for (const Piece& piece : plan.pieces) {
      LaunchIssued issued;
      issued.device = piece.device;
      issued.piece = std::make_shared<const Piece>(piece);
      mover.bring(task, *launch.buffers[0], nodeOf(piece.device), piece.uses[0].needs);
      launch.issued.push_back(std::move(issued));
    }
    merger.snapshot(task, launch);
    ASSERT_EQ(await(task), CL_SUCCESS);
  }
  /// The pieces are over; puts together what they did.
  Bytes end() {
    for (LaunchIssued& issued : launch.issued) {
      issued.kernel = completion();
      executor.book(launch, *issued.piece, issued.kernel);
      issued.kernel->finish(CL_SUCCESS);
    }
    merger.issue(task, launch);
    EXPECT_EQ(await(task), CL_SUCCESS);
    merger.finish(launch);
    const std::byte* host = launch.buffers[0]->hostMemory(*shared.machine);
    return {host, host + size};
  }
};

TEST(Merger, PutsTogetherWhatSeveralMemoriesChanged) {
  MergeWorld world;
  world.begin();
  Bytes expected = world.old;
  for (const auto& [device, offset] : {std::pair{0U, 100U}, {1U, 3000U}}) {
    Bytes changed(7);
    for (std::size_t i = 0; i < changed.size(); ++i)
      expected[offset + i] = changed[i] = ~world.old[offset + i];
    world.write(*world.launch.buffers[0], device, offset, changed);
  }
  EXPECT_EQ(world.end(), expected);
  EXPECT_TRUE(world.launch.buffers[0]->directory().isValid(hostNode, {0, MergeWorld::size}));
  // Each lacks no more than what the other changed.
  const Directory& directory = world.launch.buffers[0]->directory();
  EXPECT_TRUE(directory.isValid(world.nodeOf(0), {100, 107}) ||
              !directory.isValid(world.nodeOf(1), {100, 107}));
}

TEST(Merger, LeavesBytesThatNobodyChanged) {
  MergeWorld world;
  world.begin();
  EXPECT_EQ(world.end(), world.old);
}

TEST(Merger, AddsUpWhatSeveralMemoriesAdded) {
  UpdateKind add;
  add.operation = UpdateKind::Operation::Add;
  add.width = 4;
  MergeWorld world(add);
  world.begin();
  // Both add to the same elements; each starts from zeros.
  Bytes expected = world.old;
  for (std::size_t device = 0; device < 2; ++device) {
    const cl_uint added = 1000003 * static_cast<cl_uint>(device + 1);
    Bytes bytes(sizeof added);
    std::memcpy(bytes.data(), &added, sizeof added);
    world.write(*world.launch.buffers[0], device, 128, bytes);
    cl_uint sum = 0;
    std::memcpy(&sum, expected.data() + 128, sizeof sum);
    sum += added;
    std::memcpy(expected.data() + 128, &sum, sizeof sum);
  }
  EXPECT_EQ(world.end(), expected);
}

TEST(Merger, MergesNothingIfAPieceFailed) {
  MergeWorld world;
  world.begin();
  world.write(*world.launch.buffers[0], 0, 0, someBytes(16, 1));
  for (LaunchIssued& issued : world.launch.issued) {
    issued.kernel = world.completion();
    world.executor.book(world.launch, *issued.piece, issued.kernel);
    issued.kernel->finish(issued.device == 1 ? CL_OUT_OF_RESOURCES : CL_SUCCESS);
  }
  world.merger.issue(world.task, world.launch);
  EXPECT_NE(await(world.task), CL_SUCCESS);
  const std::byte* host = world.launch.buffers[0]->hostMemory(*world.shared.machine);
  EXPECT_TRUE(std::equal(world.old.begin(), world.old.end(), host));
}

} // namespace
} // namespace libsplit::runtime
