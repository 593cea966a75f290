#include "tools/device_tracks.h"

#include <algorithm>
#include <numeric>

namespace libsplit::tools {

void DeviceClock::observe(HostTime queued, HostTime before, HostTime after) {
  const HostTime low = before - queued, high = after - queued;
  if (!known_ || std::max(low_, low) > std::min(high_, high)) {
    low_ = low;
    high_ = high;
  } else {
    low_ = std::max(low_, low);
    high_ = std::min(high_, high);
  }
  known_ = true;
}

HostTime DeviceClock::toHost(HostTime device) const {
  return device + std::midpoint(low_, high_);
}

DeviceTracks::Place DeviceTracks::place(std::size_t device, Track track, HostTime& begin,
                                        HostTime end, HostTime uncertainty) {
  for (int beside = 0;; ++beside) {
    const int thread = runtime::TraceLayout::threadOf(track, beside);
    auto [last, isNew] = ends_.try_emplace({device, thread}, 0);
    const bool overlaps =
        begin < last->second && (last->second - begin > uncertainty || end < last->second);
    if (overlaps && beside + 1 < most)
      continue;
    if (!overlaps)
      begin = std::clamp(last->second, begin, std::max(begin, end));
    last->second = std::max(last->second, end);
    return {thread, beside, isNew};
  }
}

} // namespace libsplit::tools
