// Whether launches were split not long ago. Pure.
//
// A launch that is too short to gain by itself may be part of what longer ones gain: at home it
// would bring back what they left elsewhere, each time. So as long as any are split all are looked
// at; once none was for a while, short ones may go to the driver unseen. What counts is what was
// decided, not what the program has enqueued: it may be a thousand launches ahead.
#pragma once

#include "solver/sequence.h"

#include <algorithm>
#include <cstdint>

namespace libsplit::runtime {

/// Not thread-safe.
class SplitsOfLate {
public:
  /// The longest round of launches that is known as one, twice.
  static constexpr std::uint64_t longestRound = 2 * solver::CycleDetector::longest;

  /// It was decided about a launch.
  void passes(bool isSplit) { since_ = isSplit ? 0 : std::min(since_ + 1, longestRound); }
  explicit operator bool() const { return since_ < longestRound; }

private:
  std::uint64_t since_ = longestRound; ///< launches
};

} // namespace libsplit::runtime
