#include "runtime/session/mover.h"

#include "tests/unit/session/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

namespace libsplit::runtime {
namespace {

TEST(Mover, BringsBytesToAnotherMemory) {
  World world;
  const Bytes bytes = someBytes(5000);
  const auto buffer = world.buffer(bytes);
  const NodeId node = world.nodeOf(1);
  Task task;
  std::vector<Moved> moves;
  world.mover.bring(task, *buffer, node, ByteSet(0, bytes.size()), &moves);
  EXPECT_EQ(await(task), CL_SUCCESS);
  ASSERT_FALSE(moves.empty());
  EXPECT_TRUE(
      std::ranges::all_of(moves, [](const Moved& each) { return each.arrived->succeeded(); }));
  EXPECT_TRUE(buffer->directory().isValid(node, ByteSet(0, bytes.size())));
  EXPECT_TRUE(buffer->directory().isValid(world.nodeOf(0), ByteSet(0, bytes.size())));
  EXPECT_EQ(world.read(*buffer, 1), bytes);
}

TEST(Mover, BringsNothingThatIsThere) {
  World world;
  const auto buffer = world.buffer(someBytes(64));
  Task task;
  world.mover.bring(task, *buffer, world.nodeOf(0), ByteSet(0, 64));
  EXPECT_TRUE(task.parts.empty());
}

TEST(Mover, BringsBytesToACopyOfAPartAndBack) {
  World world;
  const Bytes bytes = someBytes(12288), zeros(12288);
  const auto buffer = world.buffer(bytes);
  const NodeId home = world.nodeOf(0), node = world.nodeOf(1);
  buffer->drop(*world.shared.machine, 1);
  EXPECT_FALSE(buffer->hasPlaceFor(*world.shared.machine, node, ByteSet(4096, 4097)));
  world.makeRoom(*buffer, 1, {4096, 8192});
  EXPECT_TRUE(buffer->hasPlaceFor(*world.shared.machine, node, ByteSet(4096, 8192)));
  EXPECT_FALSE(buffer->hasPlaceFor(*world.shared.machine, node, ByteSet(4095, 4097)));
  EXPECT_FALSE(buffer->hasPlaceFor(*world.shared.machine, node, ByteSet(8000, 8193)));

  ByteSet rows;
  for (std::uint64_t row = 4100; row < 8000; row += 400)
    rows.add({row, row + 100});
  Task there, back;
  world.mover.bring(there, *buffer, node, rows);
  ASSERT_EQ(await(there), CL_SUCCESS);
  world.write(*buffer, 0, 0, zeros);
  buffer->wrote(node, rows);
  world.mover.bring(back, *buffer, home, rows);
  ASSERT_EQ(await(back), CL_SUCCESS);
  const Bytes now = world.read(*buffer, 0);
  for (const ByteRange& row : rows.ranges())
    EXPECT_TRUE(std::equal(now.begin() + static_cast<std::ptrdiff_t>(row.begin),
                           now.begin() + static_cast<std::ptrdiff_t>(row.end),
                           bytes.begin() + static_cast<std::ptrdiff_t>(row.begin)))
        << "from byte " << row.begin;
  EXPECT_EQ(now[0], std::byte{0});
  EXPECT_EQ(now[12287], std::byte{0});
}

TEST(Mover, BringsOnlyWhatIsAskedFor) {
  World world;
  const Bytes bytes = someBytes(4096);
  const auto buffer = world.buffer(bytes);
  const Bytes zeros(4096);
  world.write(*buffer, 1, 0, zeros);
  Task task;
  world.mover.bring(task, *buffer, world.nodeOf(1), ByteSet(1024, 2048));
  EXPECT_EQ(await(task), CL_SUCCESS);
  Bytes expected = zeros;
  std::copy(bytes.begin() + 1024, bytes.begin() + 2048, expected.begin() + 1024);
  EXPECT_EQ(world.read(*buffer, 1), expected);
  EXPECT_FALSE(buffer->directory().isValid(world.nodeOf(1), ByteSet(0, 4096)));
}

TEST(Mover, ExchangesSeveralTimesWhatItsRingsHold) {
  constexpr std::size_t ring = 64 << 10, size = 20 * ring, half = size / 2;
  World world(ring);
  const Bytes old = someBytes(size), changed = someBytes(size, 1);
  const auto buffer = world.buffer(old);
  // Each node has one half of what there is.
  const auto tail = changed.begin() + half;
  world.write(*buffer, 1, half, Bytes(tail, changed.end()));
  buffer->wrote(world.nodeOf(1), ByteSet(half, size));
  Bytes expected(old.begin(), old.begin() + half);
  expected.insert(expected.end(), tail, changed.end());

  const ByteSet all(0, size);
  const std::vector<Directory::Need> needs = {{world.nodeOf(0), &all}, {world.nodeOf(1), &all}};
  const Directory::State before = buffer->directory().state();
  std::vector<BufferMove> moves;
  for (Directory::NeededMove& each : buffer->directory().bringAll(needs, Directory::Gaps::None))
    moves.push_back({buffer.get(), std::move(each.move), before});
  ASSERT_EQ(moves.size(), 2U);
  Task task;
  const std::vector<Moved> moved = world.mover.transfer(task, moves);
  EXPECT_EQ(await(task), CL_SUCCESS);
  for (const Moved& each : moved) { // of all parts, there and on
    ASSERT_TRUE(each.arrived->interval());
    EXPECT_GT(secondsOf({&each, 1}), 10 * each.arrived->interval()->seconds());
  }
  EXPECT_EQ(world.read(*buffer, 0), expected);
  EXPECT_EQ(world.read(*buffer, 1), expected);
  EXPECT_EQ(world.shared.stats.bytesBetweenNodes, size);
}

TEST(Mover, TellsHowLongSeveralTransfersTookTogether) {
  constexpr std::size_t ring = 64 << 10, size = 10 * ring;
  World world(ring);
  const Bytes bytes = someBytes(size);
  const std::array buffers = {world.buffer(bytes), world.buffer(bytes)};
  const ByteSet all(0, size);
  const Directory::Need need{world.nodeOf(1), &all};
  std::vector<BufferMove> moves;
  for (const auto& buffer : buffers) {
    const Directory::State before = buffer->directory().state();
    for (Directory::NeededMove& each :
         buffer->directory().bringAll({&need, 1}, Directory::Gaps::None))
      moves.push_back({buffer.get(), std::move(each.move), before});
  }
  Task task;
  const std::vector<Moved> moved = world.mover.transfer(task, moves);
  EXPECT_EQ(await(task), CL_SUCCESS);
  ASSERT_EQ(moved.size(), 2U);
  const double one = secondsOf({&moved[0], 1}), other = secondsOf({&moved[1], 1});
  EXPECT_GE(secondsOf(moved), std::max(one, other));
  EXPECT_LT(secondsOf(moved), 0.8 * (one + other)); // part by part they go side by side
}

TEST(Mover, SaysSoIfBytesAreNowhereAnyMore) {
  World world;
  const auto buffer = world.buffer(someBytes(64));
  world.shared.mayHaveLost = true;
  buffer->directory().spoiled(world.nodeOf(0), ByteSet(16, 32));
  Task task;
  EXPECT_THROW(world.mover.bring(task, *buffer, world.nodeOf(1), ByteSet(0, 64)), LostBytes);
  EXPECT_TRUE(task.parts.empty());
  EXPECT_NO_THROW(world.mover.requireSomewhere(*buffer, ByteSet(32, 64)));
}

TEST(Mover, AwaitsWhatWasSentAheadWhileAnotherThreadTakesIt) {
  constexpr int rounds = 300;
  World world;
  for (int round = 0; round < rounds; ++round) {
    const std::array parts{world.completion(), world.completion()};
    auto ahead = std::make_shared<Task>();
    ahead->parts.assign(parts.begin(), parts.end());
    world.mover.note(std::move(ahead));
    std::thread waiting([&] {
      Lock lock(world.shared.mutex);
      world.mover.awaitSentAhead(lock);
      EXPECT_TRUE(parts[0]->over() && parts[1]->over());
    });
    parts[0]->finish(CL_SUCCESS);
    parts[1]->finish(CL_SUCCESS);
    {
      const Lock lock(world.shared.mutex);
      for (const std::shared_ptr<Task>& each : world.mover.takeArrived())
        each->parts.clear();
    }
    waiting.join();
  }
}

} // namespace
} // namespace libsplit::runtime
