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

/// All of `rows`, in their order, in chunks of at most `most` bytes: long rows are cut, and rows
/// that lie at equal distance stay together as far as they fit. `most` > 0.
std::vector<Chunk> inChunks(const std::vector<Rows>& rows, std::uint64_t most);

/// The set's ranges as few sequences of rows, also where two to four sequences take turns: what is
/// needed of a grid beside a column is often a part of a row and then, in each, two columns.
std::vector<Rows> asRows(const ByteSet& bytes);

} // namespace libsplit::runtime
