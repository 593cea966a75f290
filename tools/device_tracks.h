// Where work of devices is shown: their clocks as the host's, and tracks on which nothing overlaps.
//
// Devices tell times on clocks of their own; DeviceClock maps them onto the host's. An example: the
// host calls clEnqueueNDRangeKernel at 100 us and is back at 104 us; the command's QUEUED time is
// 7 us on the device's clock. So 7 us there were between 100 and 104 us here, and the device is
// behind by 93 to 97 us. Each command gives such a bound, and they hold together.
#pragma once

#include "runtime/trace/trace_layout.h"

#include <cstdint>
#include <map>
#include <utility>

namespace libsplit::tools {

/// Nanoseconds of the host's steady clock.
using HostTime = std::int64_t;
/// No time, on any clock, is as far from 0: sums and differences of a few of them do not overflow.
inline constexpr HostTime farAway = HostTime{1} << 61;

/// The offset of one device's clock.
class DeviceClock {
public:
  /// A command was enqueued between `before` and `after`, and at `queued` by the device's clock.
  void observe(HostTime queued, HostTime before, HostTime after);
  bool known() const { return known_; }
  HostTime toHost(HostTime device) const;
  /// The error is at most this, unless the clocks drift.
  HostTime uncertainty() const { return (high_ - low_ + 1) / 2; }

private:
  bool known_ = false;
  HostTime low_ = 0, high_ = 0; ///< bounds of host minus device
};

/// The tracks of all devices.
class DeviceTracks {
public:
  using Track = runtime::TraceLayout::Track;

  struct Place {
    int thread = 0;
    int beside = 0; ///< 0: the track itself
    bool isNew = false;
  };
  static constexpr int most = 16; ///< beside each other
  /// A thread number on which [begin, end) overlaps nothing: `track` itself, or beside it. Where
  /// the overlap is within the clock's `uncertainty`, `begin` is moved instead. Of more than `most`
  /// at once the others come to lie over what is there, with the times that they took.
  Place place(std::size_t device, Track track, HostTime& begin, HostTime end, HostTime uncertainty);

private:
  std::map<std::pair<std::size_t, int>, HostTime> ends_; ///< by device and thread
};

} // namespace libsplit::tools
