// The bytes that an affine access touches.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "analysis-pass/summary/checked_int.h"

#include <cstddef>
#include <vector>

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
  /// The same bytes with fewer strides: those that leave no gap become one longer run. The rest
  /// ascend, and each has several steps.
  void simplify();
};

/// Adds the runs to `bytes`; false if there are more than `maxRuns` of them, or endless ones: then
/// it added their hull.
bool addRuns(ByteSet& bytes, StridedRuns runs, std::size_t maxRuns);

/// Fewer runs of the same bytes: those that lie side by side in equal strides become one. All are
/// simplified before and after.
///
/// Worked example: a periodic row of 8 floats is read at x - 1 from two parts, x = 0 and x = 1 ..
/// 7: 4 bytes at 28 and 28 bytes at 0, both every 32 bytes for each row. Together they are 32 bytes
/// every 32, so all rows are one run; and a matrix whose rows wrap as well takes four parts to one.
void coalesce(std::vector<StridedRuns>& runs);

/// Bytes [low, high] cut to a buffer.
ByteRange cut(Interval bytes, std::uint64_t bufferSize);

} // namespace libsplit
