// What it takes to copy between a device and the host's memory, before anything was moved.
#pragma once

#include "runtime/core/opencl.h"

#include <cstddef>
#include <optional>
#include <span>

namespace libsplit::runtime {

/// Seconds in each direction.
struct LinkTimes {
  struct Way {
    double small = 0;   ///< of a copy of next to nothing
    double perByte = 0; ///< that each byte adds
  };
  Way in, out;
};

/// Seconds that passed since any moment.
using SecondsNow = double (*)();
double steadySeconds();

/// Of copies of up to `host.size()` bytes between `host`, which is pinned where transfers' memory
/// is and changes, and a buffer in `context`: of ones so large that they take a millisecond more
/// than small ones, the fastest of a few. Nothing if the driver has no room for the buffer, or
/// refuses anything. `queue` is idle and of `context`. Some milliseconds on any link but for its
/// own delays; not under the session's lock.
std::optional<LinkTimes> linkTimes(const Dispatch& cl, cl_context context, cl_command_queue queue,
                                   std::span<std::byte> host, SecondsNow now = steadySeconds);

} // namespace libsplit::runtime
