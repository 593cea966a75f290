// What passes between the end of a launch that the program waits for and its next launch.
//
// That belongs to what splitting costs, and no launch shows it: what several devices have written
// the program reads from several memories, and what it writes goes to several. So it is timed after
// launches that were split and after those that home did alone. The program's own work is in both,
// and cancels out; since it may take now this and now that, only what exceeds what is usual at home
// even at its least counts.
//
// Worked example: a program writes 10 MB, launches, and reads 10 MB, beside a helper that is 20 ms
// away. Launches take 42 ms at home, and 41 ms split; 2 ms pass after the former and 22 ms after
// the latter. So being split costs 20 ms more than a launch shows, and it is not worth it.
//
// Pure. Not thread-safe.
#pragma once

#include "runtime/cost/latest.h"

#include <cstddef>

namespace libsplit::runtime {

class RestTimes {
public:
  /// A launch, which was split or not, was followed by the next one after `seconds`.
  void passed(bool wasSplit, double seconds);
  /// Seconds that more pass after launches that are split; 0 where that is not known.
  double splitCosts() const;
  /// … at the most, as far as is known: what passes after those at home may be nothing.
  double mostSplitCosts() const;

private:
  static constexpr std::size_t least = 2; ///< that tell anything
  double leastAfterSplit() const;         ///< 0: not known
  Latest<5> home_, split_;
};

} // namespace libsplit::runtime
