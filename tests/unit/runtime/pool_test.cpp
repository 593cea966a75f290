#include "runtime/plan/pool.h"

#include <gtest/gtest.h>

namespace libsplit::runtime {
namespace {

using Batches = std::vector<Batch>;

/// The example of the header, in MiB.
constexpr PoolMemory memory() {
  return {.home = 10240, .homeLargest = 10240, .all = 20480, .host = 30720};
}

TEST(Pool, LeavesTheDriverSomeOfTheMemory) {
  EXPECT_EQ(roomForBuffers(10240), 9600U);
  EXPECT_EQ(roomForBuffers(0), 0U);
}

TEST(Pool, LeavesAtHomeWhatFitsThere) {
  EXPECT_EQ(placeBuffer(8192, true, memory()), Placement::AtHome);
  PoolMemory with = memory();
  with.atHome = 8192;
  EXPECT_EQ(placeBuffer(1408, true, with), Placement::AtHome);
  EXPECT_EQ(placeBuffer(1409, true, with), Placement::Pooled);
}

TEST(Pool, TakesWhatTheDriverDoesNotAllow) {
  PoolMemory with = memory();
  with.homeLargest = 2560;
  EXPECT_EQ(placeBuffer(2560, true, with), Placement::AtHome);
  EXPECT_EQ(placeBuffer(2561, true, with), Placement::Pooled);
}

TEST(Pool, LeavesAtHomeWhatIsSmall) {
  PoolMemory with = memory();
  with.atHome = 20000; // of the driver's own counting
  EXPECT_EQ(placeBuffer(40, true, with), Placement::AtHome);
  EXPECT_EQ(placeBuffer(41, true, with), Placement::Pooled);
}

TEST(Pool, TakesWhatAllDevicesTogetherHaveAndNoMore) {
  EXPECT_EQ(placeBuffer(20480, true, memory()), Placement::Pooled);
  EXPECT_EQ(placeBuffer(20481, true, memory()), Placement::TooLarge);
}

TEST(Pool, EndsWithTheHostsMemory) {
  PoolMemory with = memory();
  with.atHome = 8192;
  with.pooled = 20480;
  EXPECT_EQ(placeBuffer(10240, true, with), Placement::Pooled);
  EXPECT_EQ(placeBuffer(10241, true, with), Placement::NoRoom);
  with.pooled = 40960; // more than there is: a device may have less than it said
  EXPECT_EQ(placeBuffer(10240, true, with), Placement::NoRoom);
}

TEST(Pool, TakesNothingWhereTheProgramHasTheMemory) {
  PoolMemory with = memory();
  with.pooled = with.host;
  EXPECT_EQ(placeBuffer(12288, false, with), Placement::Pooled);
}

/// Each group takes one, with so much beside.
auto fitsIn(std::uint64_t room, std::uint64_t beside = 0) {
  return [=](const Batch& batch) { return batch.end - batch.begin + beside <= room; };
}

TEST(Batches, AreOneWhereAllFits) {
  EXPECT_EQ(batchesOf(3, 10, fitsIn(7)), Batches({{3, 10}}));
}

TEST(Batches, AreAsLargeAsThereIsRoom) {
  EXPECT_EQ(batchesOf(0, 10, fitsIn(4)), Batches({{0, 4}, {4, 8}, {8, 10}}));
  EXPECT_EQ(batchesOf(5, 8, fitsIn(3, 2)), Batches({{5, 6}, {6, 7}, {7, 8}}));
}

TEST(Batches, AreNoneWhereOneGroupIsTooLarge) {
  EXPECT_EQ(batchesOf(0, 10, fitsIn(4, 4)), Batches());
  // The last one reads what is at the other end of the grid.
  EXPECT_EQ(batchesOf(0, 10, [](const Batch& batch) { return batch.end < 10; }), Batches());
}

TEST(Batches, GrowAgainBehindGroupsThatTakeMore) {
  const auto fits = [](const Batch& batch) {
    return batch.end - batch.begin <= (batch.begin < 8 ? 8U : 100U);
  };
  const Batches batches = batchesOf(0, 60, fits);
  EXPECT_EQ(batches.front(), (Batch{0, 8}));
  EXPECT_EQ(batches[1], (Batch{8, 17}));
  EXPECT_EQ(batches.back().end, 60U);
  for (std::size_t i = 1; i < batches.size(); ++i)
    EXPECT_EQ(batches[i].begin, batches[i - 1].end);
}

} // namespace
} // namespace libsplit::runtime
