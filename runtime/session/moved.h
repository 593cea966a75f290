// Bytes on their way from one memory to another: what others wait for, and how long it took.
//
// From device to device they go through host memory, part by part; while one part arrives the next
// one leaves. Several sets of bytes go at the same time. Each way is timed by the clock of its own
// device.
//
// Worked example: three parts that take 1 ms to leave and 2 ms to arrive. The first has left after
// 1 ms, and all arrive within 6 ms from then on: 7 ms, not the 2 ms of the last one, and no more if
// another set arrives meanwhile.
#pragma once

#include "runtime/core/completion.h"

#include <span>

namespace libsplit::runtime {

struct Moved {
  CompletionPtr left;    ///< is over before bytes may be overwritten where they came from
  CompletionPtr arrived; ///< … before they are where they go
  // The same of the first part; null if they go at once.
  CompletionPtr firstLeft{}, firstArrived{};
};

/// Seconds in which some of these, which all went to one memory, were on their way, once they are
/// over. 0 where the queues record no times.
double secondsOf(std::span<const Moved> moves);

} // namespace libsplit::runtime
