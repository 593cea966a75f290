#include "runtime/strided_rows.h"

#include "tests/unit/runtime/grid.h"

#include <gtest/gtest.h>

#include <random>

namespace libsplit::runtime {
namespace {

ByteSet bytesOf(const std::vector<Rows>& all) {
  ByteSet bytes;
  for (const Rows& rows : all)
    for (std::uint64_t k = 0; k < rows.count; ++k)
      bytes =
          unite(bytes, {rows.first + k * rows.pitch, rows.first + k * rows.pitch + rows.length});
  return bytes;
}

std::uint64_t sizeOf(const std::vector<Rows>& all) {
  std::uint64_t size = 0;
  for (const Rows& rows : all)
    size += rows.count * rows.length;
  return size;
}

TEST(StridedRows, oneRangeIsOneRow) {
  EXPECT_EQ(asRows(ByteSet(3, 10)), (std::vector<Rows>{{3, 7, 0, 1}}));
  EXPECT_TRUE(asRows({}).empty());
}

TEST(StridedRows, aGridsInteriorIsOneSequence) {
  EXPECT_EQ(asRows(interior(2, 40, 100)), (std::vector<Rows>{{201, 98, 100, 38}}));
}

TEST(StridedRows, anOddFirstRowGoesByItself) {
  const ByteSet bytes = unite(ByteSet(0, 40), interior(2, 40, 100));
  EXPECT_EQ(asRows(bytes), (std::vector<Rows>{{0, 40, 0, 1}, {201, 98, 100, 38}}));
}

TEST(StridedRows, sequencesMayTakeTurns) {
  ByteSet bytes(0, 50); // half a row, then the columns beside two blocks
  for (std::uint64_t row = 1; row < 30; ++row) {
    bytes.add({100 * row + 46, 100 * row + 50});
    bytes.add({100 * row + 96, 100 * row + 99});
  }
  const std::vector<Rows> all = asRows(bytes);
  EXPECT_EQ(all, (std::vector<Rows>{{0, 50, 0, 1}, {146, 4, 100, 29}, {196, 3, 100, 29}}));
}

TEST(StridedRows, coverExactlyTheSet) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](std::uint64_t n) { return random() % n; };
    ByteSet bytes;
    const std::uint64_t width = 20 + below(30);
    for (std::uint64_t row = 0; row < 20; ++row) {
      if (below(8) == 0)
        continue;
      const std::uint64_t shift = below(10) == 0 ? below(3) : 0;
      bytes.add({width * row + shift, width * row + shift + 1 + below(2) * (seed % 2)});
      bytes.add({width * row + 8, width * row + 12});
    }
    const std::vector<Rows> all = asRows(bytes);
    EXPECT_EQ(bytesOf(all), bytes) << "seed " << seed;
    EXPECT_EQ(sizeOf(all), bytes.size()) << "seed " << seed << ": something is there twice";
  }
}

} // namespace
} // namespace libsplit::runtime
