// Sets of bytes as rows that commands for rectangles can take. Pure.
#pragma once

#include "analysis-pass/summary/byte_set.h"

#include <vector>

namespace libsplit::runtime {

/// Ranges of equal length at equal distance.
struct Rows {
  std::uint64_t first = 0, length = 0, pitch = 0, count = 1; ///< pitch: 0 if there is one row
  bool operator==(const Rows&) const = default;
};

/// Rows that travel together, one behind the other.
struct Chunk {
  std::vector<Rows> rows;
  std::uint64_t size = 0; ///< bytes
  bool operator==(const Chunk&) const = default;
};

/// Bytes of an image's pixel, at most; a power of two. Other images are not followed.
inline constexpr std::uint64_t largestPixel = 16;

/// How an image's bytes lie where they are packed: by rows, and these by slices.
struct ImageLayout {
  std::uint64_t rowBytes = 0;
  std::uint64_t rows = 1; ///< of a slice
  std::uint64_t elementBytes = 1;
  bool isLayered = false; ///< rows are pictures of their own, in an array of such
};

/// All of `rows`, in their order, in chunks of at most `most` bytes: long rows are cut, and rows
/// that lie at equal distance stay together as far as they fit. `most` > 0.
std::vector<Chunk> inChunks(const std::vector<Rows>& rows, std::uint64_t most);

/// The set's ranges as few sequences of rows, also where two to four sequences take turns: what is
/// needed of a grid beside a column is often a part of a row and then, in each, two columns.
std::vector<Rows> asRows(const ByteSet& bytes);

/// A set of an image's pixels as rectangles that commands for images can take: rows of one slice,
/// as many as have the same pixels, at a row's distance; of one picture each where it is layered,
/// but for whole rows.
std::vector<Rows> asRows(const ByteSet& pixels, const ImageLayout& layout);

} // namespace libsplit::runtime
