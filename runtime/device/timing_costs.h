// What it costs to have a device note when it was at work on a command.
#pragma once

#include "runtime/core/opencl.h"

namespace libsplit::runtime {

/// Seconds that a small command of `timed`, a profiled queue, surely takes longer than one of
/// `untimed`, from the call until it is waited for; 0 where that is lost in the noise, or can't be
/// found out. Both are idle and of `context`. A millisecond or less; not under the session's lock.
double timingCosts(const Dispatch& cl, cl_context context, cl_command_queue untimed,
                   cl_command_queue timed);

} // namespace libsplit::runtime
