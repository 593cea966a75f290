// From one queue to another, by an event.
#pragma once

#include "tests/samples/sample.h"

namespace sample {

/// What comes in `to` from now on is behind what is in `from`. `last` gets the event between them.
inline void handOver(cl_command_queue from, cl_command_queue to, Event& last) {
  check(clEnqueueMarkerWithWaitList(from, 0, nullptr, last.out()), "clEnqueueMarkerWithWaitList");
  check(clFlush(from), "clFlush");
  check(clEnqueueBarrierWithWaitList(to, 1, last.address(), nullptr),
        "clEnqueueBarrierWithWaitList");
}

} // namespace sample
