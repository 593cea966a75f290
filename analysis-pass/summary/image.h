// The bytes that an affine access touches.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "analysis-pass/summary/checked_int.h"

#include <cstddef>

namespace libsplit {

/// `count` > 0 steps of `step` > 0 bytes.
struct Stride {
  Int step = 0;
  Int count = 1;
};

inline constexpr std::size_t maxStrides = 32;

/// All runs [base + sum k_i * step_i, ... + length), 0 <= k_i < count_i, cut to the buffer.
struct StridedRuns {
  Int base = 0;
  Int length = 0;
  Stride strides[maxStrides];
  std::size_t strideCount = 0;
  std::uint64_t bufferSize = 0;

  void add(Stride stride) { strides[strideCount++] = stride; }
  Interval hull() const; ///< first and last byte, before cutting
};

/// Adds the runs to `bytes`; false if there are more than `maxRuns` of them, or endless ones: then
/// it added their hull.
bool addRuns(ByteSet& bytes, StridedRuns runs, std::size_t maxRuns);

/// Bytes [low, high] cut to a buffer.
ByteRange cut(Interval bytes, std::uint64_t bufferSize);

} // namespace libsplit
