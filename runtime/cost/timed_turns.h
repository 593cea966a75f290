// Which launches of a queue are timed. Pure.
//
// To have a device note when it was at work on a command costs some drivers as much as to enqueue
// it (NVIDIA's 7 us of 14), and what a launch takes that is as the thousand before it tells little.
// So launches are timed that somebody wants to hear of, and of the others as many as timing may
// cost a part of what they take (planning_budget.h). Those that nobody waits for are measured from
// the end of the one before, so launches are timed in turns, several in a row. A turn begins or
// ends while nothing else is under way: what is timed goes to other queues than what is not, and
// neither is to run beside the other.
//
// What a launch earned that waited for gigabytes does not pay for hundreds of short ones after it:
// no more is kept than a turn takes.
//
// Worked example: launches of 300 us, of which timing takes 14. The first are wanted. From then on
// a launch earns 3 us, and each that is timed spends 14: of 100 launches, about 21 are timed.
#pragma once

#include "runtime/cost/planning_budget.h"

namespace libsplit::runtime {

/// Not thread-safe.
class TimedTurns {
public:
  static constexpr unsigned turn = 8;  ///< launches
  static constexpr double part = 0.01; ///< of what launches take that timing may cost

  /// Whether the next launch is to be timed. `isWanted`: somebody learns from it. `isAlone`:
  /// nothing of its queue is under way.
  bool next(bool isWanted, bool isAlone) {
    if (isWanted || (isAlone && left_ == 0)) {
      isTimed_ = isWanted || budget_.affords();
      left_ = isTimed_ ? turn : 0; // also behind what is wanted: that is measured from its end
    }
    left_ -= left_ > 0;
    return isTimed_;
  }
  /// Launches took so many seconds, `timing` of them since they were timed.
  void took(double seconds, double timing) {
    budget_.earn(part / PlanningBudget::part * seconds);
    if (timing > 0) {
      budget_.spend(timing);
      most_ = turn * timing;
    }
    budget_.keepAtMost(most_);
  }

private:
  PlanningBudget budget_;
  double most_ = 0;   ///< seconds that a turn takes
  unsigned left_ = 0; ///< of this turn
  bool isTimed_ = false;
};

} // namespace libsplit::runtime
