// Parts of a grid that is stored row by row, as sets of bytes.
#pragma once

#include "analysis-pass/summary/byte_set.h"

#include <cstdint>

namespace libsplit::runtime {

/// Rows [begin, end) of a grid `width` bytes wide, without the first and the last byte of each.
inline ByteSet interior(std::uint64_t begin, std::uint64_t end, std::uint64_t width) {
  ByteSet set;
  for (std::uint64_t row = begin; row < end; ++row)
    set.add({width * row + 1, width * (row + 1) - 1});
  return set;
}

} // namespace libsplit::runtime
