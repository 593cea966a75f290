// What an object's reference count would be without libsplit.
//
// Drivers count more than the program's own references, each its own way: PoCL's contexts count
// their buffers, queues, programs and events, others' don't. So from what a driver says is taken
// libsplit's own reference (core/references.h), and what libsplit's objects, and those that only
// libsplit still keeps, add to their context, program, queue or buffer. What one of a kind adds is
// found by making one, in a context that nobody else has, when somebody first asks.
//
// Example: of a context with a queue, a program and a buffer PoCL says 4, its own and one for each.
// With a queue and a program of libsplit's there it says 6, and 7 if libsplit holds the context as
// well. The program hears 4.
//
// An event of libsplit's that stands for a command's is a user event to the driver, so that its
// queue and context count it otherwise than natively. That is set right as well. What can't be is
// what a driver itself holds for commands, such as PoCL's buffers the event of their last one, and
// that its queue: libsplit's commands are others.
#pragma once

#include "runtime/session/event_table.h"
#include "runtime/session/shared.h"

#include <array>
#include <cstddef>
#include <map>
#include <mutex>

namespace libsplit::runtime {

/// By how much a driver's counts grow with each object. Any thread.
struct ReferenceWeights {
  static constexpr std::size_t kinds = 8; ///< of References::Kind
  std::array<long, kinds> onContext{};    ///< by kind; an event here is a user event
  long commandOnContext = 0;              ///< the event of a command that is over
  long commandOnQueue = 0;
  long partOnContext = 0; ///< a sub-buffer
  long partOnBuffer = 0;
  long kernelOnProgram = 0;

  /// As the driver of these devices counts. Makes a context, and has a program built.
  static ReferenceWeights measure(const Dispatch& cl, cl_device_id device);
  long of(References::Kind kind) const { return onContext[static_cast<std::size_t>(kind)]; }
};

/// Any thread, without the session's lock. Each answers what clGet…Info with CL_…_REFERENCE_COUNT
/// would natively. The object is there.
class ReferenceCounts {
public:
  ReferenceCounts(const Dispatch& cl, EventTable& events) : cl_(cl), events_(events) {}

  /// `Handle`: a context, queue, memory object, program, kernel, sampler or event.
  template <class Handle> cl_uint of(Handle handle);

private:
  long now(cl_context context);
  long now(cl_command_queue queue);
  long now(cl_mem memory);
  long now(cl_program program);
  /// A kernel, sampler or event: libsplit's objects add nothing to them.
  template <class Handle> long now(Handle handle) { return withoutOurs(handle); }
  template <class Handle> long withoutOurs(Handle handle) const;
  ReferenceWeights weightsIn(cl_context context);

  const Dispatch& cl_;
  EventTable& events_;
  std::mutex mutex_; ///< of what follows
  std::map<cl_platform_id, ReferenceWeights> weights_;
};

} // namespace libsplit::runtime
