// The index space of a launch, and boxes of work-groups in it.
#pragma once

#include <array>
#include <cstdint>

namespace libsplit {

/// An NDRange as clEnqueueNDRangeKernel takes it. Unused dimensions have offset 0, global 1,
/// local 1. `local` need not divide `global`: the last work-group of a dimension is then smaller.
struct NDRange {
  unsigned dimensions = 1;
  std::array<std::uint64_t, 3> offset{0, 0, 0}; ///< work-items
  std::array<std::uint64_t, 3> global{1, 1, 1}; ///< work-items
  std::array<std::uint64_t, 3> local{1, 1, 1};  ///< work-items per work-group, > 0

  std::uint64_t groups(unsigned d) const { return (global[d] + local[d] - 1) / local[d]; }
  std::uint64_t groups() const { return groups(0) * groups(1) * groups(2); }
  bool uniform(unsigned d) const { return global[d] % local[d] == 0; }
  bool operator==(const NDRange&) const = default;
};

/// Work-groups [begin[d], end[d]) of an NDRange, counted from its first group (group ids, not
/// offset).
struct GroupBox {
  std::array<std::uint64_t, 3> begin{0, 0, 0};
  std::array<std::uint64_t, 3> end{1, 1, 1};

  bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
  /// Groups in it, which is not empty.
  std::uint64_t groups() const {
    return (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
  bool operator==(const GroupBox&) const = default;
};

/// All groups of `range`.
inline GroupBox wholeBox(const NDRange& range) {
  return {{0, 0, 0}, {range.groups(0), range.groups(1), range.groups(2)}};
}

/// The slab of `range` whose group ids in dimension `d` are [begin, end).
inline GroupBox slab(const NDRange& range, unsigned d, std::uint64_t begin, std::uint64_t end) {
  GroupBox box = wholeBox(range);
  box.begin[d] = begin;
  box.end[d] = end;
  return box;
}

} // namespace libsplit
