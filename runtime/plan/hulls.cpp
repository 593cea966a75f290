#include "runtime/plan/hulls.h"

#include <utility>

namespace libsplit::runtime {

namespace {

constexpr std::uint64_t fanOut = 64;

} // namespace

Hulls::Hulls(std::vector<Interval> intervals) : levels_{std::move(intervals)} {
  while (levels_.back().size() > fanOut) {
    const std::vector<Interval>& below = levels_.back();
    std::vector<Interval> level((below.size() + fanOut - 1) / fanOut, nothing);
    for (std::size_t i = 0; i < below.size(); ++i)
      level[i / fanOut] = hull(level[i / fanOut], below[i]);
    levels_.push_back(std::move(level));
  }
}

Interval Hulls::between(std::uint64_t first, std::uint64_t last) const {
  Interval all = nothing;
  std::uint64_t end = last + 1;
  for (std::size_t level = 0; first < end; ++level) {
    const std::vector<Interval>& entries = levels_[level];
    // What is no whole entry of the next level, from both ends.
    const bool top = level + 1 == levels_.size();
    for (; first < end && (top || first % fanOut != 0); ++first)
      all = hull(all, entries[first]);
    for (; first < end && end % fanOut != 0; --end)
      all = hull(all, entries[end - 1]);
    first /= fanOut;
    end /= fanOut;
  }
  return all;
}

} // namespace libsplit::runtime
