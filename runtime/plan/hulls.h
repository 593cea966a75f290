// Hulls of any run of intervals, without looking at each.
#pragma once

#include "analysis-pass/summary/checked_int.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libsplit::runtime {

/// Level 0 holds the intervals, level 1 the hulls of 64 of them each, and so on: a run of any
/// length is a few entries of each level. Immutable once made; thread-safe.
class Hulls {
public:
  Hulls() = default;
  explicit Hulls(std::vector<Interval> intervals);

  /// Of intervals [first, last]; an empty interval if there are none.
  Interval between(std::uint64_t first, std::uint64_t last) const;
  std::size_t size() const { return levels_.empty() ? 0 : levels_[0].size(); }

private:
  std::vector<std::vector<Interval>> levels_;
};

} // namespace libsplit::runtime
