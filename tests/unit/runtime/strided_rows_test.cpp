#include "runtime/plan/strided_rows.h"

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

constexpr ImageLayout picture{40, 4, 4}; // slices of 4 rows of 10 pixels

TEST(ImageRows, wholeOnesOfASliceGoTogether) {
  EXPECT_EQ(asRows(ByteSet(80, 160), picture), (std::vector<Rows>{{80, 40, 40, 2}}));
  EXPECT_EQ(asRows(ByteSet(120, 240), picture),
            (std::vector<Rows>{{120, 40, 0, 1}, {160, 40, 40, 2}}));
}

TEST(ImageRows, aBandIsARectangle) {
  ByteSet left, sides;
  for (std::uint64_t row = 0; row < 4; ++row) {
    left.add({40 * row, 40 * row + 12});
    sides.add({40 * row, 40 * row + 4});
    sides.add({40 * row + 32, 40 * row + 40});
  }
  EXPECT_EQ(asRows(left, picture), (std::vector<Rows>{{0, 12, 40, 4}}));
  // Of neighbouring rows the right side and the left one are one range.
  EXPECT_EQ(asRows(sides, picture), (std::vector<Rows>{{0, 4, 40, 4}, {32, 8, 40, 4}}));
  ImageLayout layered = picture;
  layered.isLayered = true;
  EXPECT_EQ(asRows(left, layered).size(), 4u);
}

TEST(ImageRows, coverExactlyTheSetAndStayInTheirSlices) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](std::uint64_t n) { return random() % n; };
    const std::uint64_t pixel = std::uint64_t{1} << below(5);
    const ImageLayout layout{pixel * (1 + below(9)), 1 + below(5), pixel, below(4) == 0};
    ByteSet pixels;
    for (std::uint64_t i = 0; i < 1 + below(20); ++i) {
      const std::uint64_t begin = pixel * below(100);
      pixels.add({begin, begin + pixel * (1 + below(below(2) * 40 + 2))});
    }
    const std::vector<Rows> all = asRows(pixels, layout);
    EXPECT_EQ(bytesOf(all), pixels) << "seed " << seed;
    EXPECT_EQ(sizeOf(all), pixels.size()) << "seed " << seed << ": something is there twice";
    for (const Rows& each : all) {
      const std::uint64_t first = each.first / layout.rowBytes, last = first + each.count - 1;
      EXPECT_EQ(first / layout.rows, last / layout.rows) << "seed " << seed;
      EXPECT_LE(each.first % layout.rowBytes + each.length, layout.rowBytes) << "seed " << seed;
      EXPECT_TRUE(each.count == 1 || each.pitch == layout.rowBytes) << "seed " << seed;
      EXPECT_TRUE(each.count == 1 || !layout.isLayered || each.length == layout.rowBytes);
    }
  }
}

std::vector<Rows> rowsOf(const std::vector<Chunk>& chunks) {
  std::vector<Rows> all;
  for (const Chunk& chunk : chunks)
    all.insert(all.end(), chunk.rows.begin(), chunk.rows.end());
  return all;
}

TEST(Chunks, keepRowsTogetherAsFarAsTheyFit) {
  EXPECT_EQ(inChunks({{0, 10, 100, 5}}, 25),
            (std::vector<Chunk>{
                {{{0, 10, 100, 2}}, 20}, {{{200, 10, 100, 2}}, 20}, {{{400, 10, 0, 1}}, 10}}));
  EXPECT_TRUE(inChunks({}, 8).empty());
}

TEST(Chunks, cutRowsThatAreLongerThanAChunk) {
  EXPECT_EQ(
      inChunks({{100, 20, 0, 1}}, 8),
      (std::vector<Chunk>{{{{100, 8, 0, 1}}, 8}, {{{108, 8, 0, 1}}, 8}, {{{116, 4, 0, 1}}, 4}}));
}

TEST(Chunks, coverExactlyTheRows) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](std::uint64_t n) { return random() % n; };
    std::vector<Rows> rows;
    std::uint64_t at = below(50);
    for (std::uint64_t i = 0; i < 1 + below(6); ++i) {
      const std::uint64_t length = 1 + below(40), pitch = length + 1 + below(20),
                          count = 1 + below(9);
      rows.push_back({at, length, count > 1 ? pitch : 0, count});
      at += pitch * count + below(30);
    }
    const std::uint64_t most = 1 + below(60);
    const std::vector<Chunk> chunks = inChunks(rows, most);
    EXPECT_EQ(bytesOf(rowsOf(chunks)), bytesOf(rows)) << "seed " << seed;
    EXPECT_EQ(sizeOf(rowsOf(chunks)), sizeOf(rows)) << "seed " << seed;
    for (const Chunk& chunk : chunks) {
      EXPECT_EQ(chunk.size, sizeOf(chunk.rows)) << "seed " << seed;
      EXPECT_LE(chunk.size, most) << "seed " << seed;
      EXPECT_GT(chunk.size, 0u) << "seed " << seed;
    }
  }
}

} // namespace
} // namespace libsplit::runtime
