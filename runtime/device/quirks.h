// What a driver gets wrong and libsplit can do without. Each is found by a probe when the device is
// opened, never by a driver's name or version, and known here and where it is heeded, nowhere else.
//
// A new one: a member here, with what holds for a faultless driver as its default; a probe in
// quirks.cpp that sees the fault itself; a key of the fake OpenCL's devices that has it; and a test
// there that gives other bytes if the quirk is not heeded.
#pragma once

#include "runtime/core/opencl.h"

#include <cstdint>

namespace libsplit::runtime {

/// What clEnqueueReadBufferRect and clEnqueueWriteBufferRect can be used for.
enum class HostRows : std::uint8_t {
  AtAnyPitch,
  Dense, ///< right where the host's rows lie one behind the other (PoCL's remote driver)
  None,  ///< never right
};

struct Quirks {
  HostRows hostRows = HostRows::AtAnyPitch;
};

/// By a few small commands on `queue`, which is idle and of `context`, and by the time that they
/// take. What can't be found out is not relied on. Not under the session's lock.
Quirks probeQuirks(const Dispatch& cl, cl_context context, cl_command_queue queue);

/// Whether what comes behind a command on `queue`, which is idle, is over only when the callback
/// for that command's end is. Takes some milliseconds.
bool callsBackFirst(const Dispatch& cl, cl_command_queue queue);

} // namespace libsplit::runtime
