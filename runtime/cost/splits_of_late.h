// Whether launches were split not long ago. Pure.
//
// A launch that is too short to gain by itself may be part of what longer ones gain: at home it
// would bring back what they left elsewhere, each time. So as long as any are split all are looked
// at; once none was for a while, short ones may go to the driver unseen. What counts is what was
// decided, not what the program has enqueued: it may be a thousand launches ahead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace libsplit::runtime {

/// Not thread-safe.
class SplitsOfLate {
public:
  /// Launches after which none is of late, as long as no longer round is known.
  static constexpr std::uint64_t usualRound = 64;
  /// … where a cycle of so many goes round.
  static std::uint64_t roundOf(std::uint64_t cycle) { return std::max(usualRound, 2 * cycle); }

  /// It was decided about a launch.
  void passes(bool isSplit) {
    if (isSplit)
      since_ = 0;
    else if (since_ < never)
      ++since_;
  }
  /// Whether one of the last `round` launches was.
  bool isAnyOf(std::uint64_t round) const { return since_ < round; }

private:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t since_ = never; ///< launches
};

} // namespace libsplit::runtime
