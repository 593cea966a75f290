#include "runtime/session/moved.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace libsplit::runtime {

namespace {

/// By the clock of one device.
std::optional<DeviceInterval> span(const CompletionPtr& first, const CompletionPtr& last) {
  const auto end = last ? last->interval() : std::nullopt;
  const auto begin = first && first != last ? first->interval() : end;
  if (!begin || !end)
    return std::nullopt;
  return DeviceInterval{begin->start, end->end};
}

double seconds(const std::optional<DeviceInterval>& interval) {
  return interval ? interval->seconds() : 0;
}

} // namespace

double secondsOf(std::span<const Moved> moves) {
  struct Arrival {
    DeviceInterval interval;
    double leaving = 0; ///< of the first part
  };
  std::vector<Arrival> arrivals;
  double longest = 0; // of those that the host took in
  for (const Moved& each : moves)
    if (const auto interval =
            span(each.firstArrived ? each.firstArrived : each.arrived, each.arrived))
      arrivals.push_back({*interval, seconds(span(each.firstLeft, each.firstLeft))});
    else
      longest = std::max(longest, seconds(span(each.firstLeft, each.left)));
  std::ranges::sort(arrivals, {}, [](const Arrival& each) { return each.interval.start; });
  double sum = 0;
  cl_ulong until = 0;
  for (const Arrival& each : arrivals) {
    if (each.interval.start >= until) // nothing was on its way but, perhaps, this
      sum += each.leaving;
    sum += DeviceInterval{std::max(each.interval.start, until), each.interval.end}.seconds();
    until = std::max(until, each.interval.end);
  }
  return std::max(sum, longest);
}

} // namespace libsplit::runtime
