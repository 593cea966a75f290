// Bytes on their way from one memory to another: what others wait for, and how long it took.
//
// From device to device they go through host memory, part by part; while one part arrives the next
// one leaves. Each way is timed by the clock of its own device.
//
// Worked example: three parts that take 1 ms to leave and 2 ms to arrive. The first has left after
// 1 ms, and all arrive within 6 ms from then on: 7 ms, not the 2 ms of the last one.
#pragma once

#include "runtime/core/completion.h"

#include <algorithm>

namespace libsplit::runtime {

struct Moved {
  CompletionPtr left;    ///< is over before bytes may be overwritten where they came from
  CompletionPtr arrived; ///< … before they are where they go
  // The same of the first part; null if they go at once.
  CompletionPtr firstLeft{}, firstArrived{};

  /// Once it is over, as far as the queues record times; 0 if they don't.
  double seconds() const {
    if (!firstArrived)
      return span(arrived, arrived);
    return std::max(span(firstLeft, left) + span(arrived, arrived),
                    span(firstLeft, firstLeft) + span(firstArrived, arrived));
  }

private:
  static double span(const CompletionPtr& first, const CompletionPtr& last) {
    const auto begin = first ? first->interval() : std::nullopt;
    const auto end = last && last != first ? last->interval() : begin;
    return begin && end ? DeviceInterval{begin->start, end->end}.seconds() : 0;
  }
};

} // namespace libsplit::runtime
