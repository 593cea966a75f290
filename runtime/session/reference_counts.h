// What an object's reference count would be without libsplit.
//
// Drivers count more than the program's own references, each its own way: PoCL's contexts count
// their buffers, queues, programs and events, others' don't. So from what a driver says is taken
// libsplit's own reference (core/references.h), and what libsplit's objects, and those that only
// libsplit still keeps, add to their context, program or buffer. What one of a kind adds is found
// by making one when somebody first asks where there are such: nothing that a driver would compile
// or that anybody would have to wait for, since programs also ask in callbacks, and while they
// exit. What other threads do meanwhile is not taken for it. Where a driver refuses, or does not
// come to an end of a command soon, it is found out again a second later.
//
// Example: of a context with a queue, a program and a buffer PoCL says 4, its own and one for each.
// With a queue and a program of libsplit's there it says 6, and 7 if libsplit holds the context as
// well. The program hears 4.
//
// An event of libsplit's that stands for a command's is a user event to the driver, so that its
// queue and context count it otherwise than natively. That is set right as well. What can't be is
// what a driver itself holds for commands that are under way, or afterwards, such as PoCL's buffers
// the event of their last one, and that its queue: libsplit's commands are others.
//
// A question looks at what libsplit holds at one moment: who is to make or give back an object
// waits until it has looked. One about a context or queue looks at all. The child of a fork hears
// what its driver says.
#pragma once

#include "runtime/session/event_table.h"
#include "runtime/session/shared.h"

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>

namespace libsplit::runtime {

/// Any thread, without the session's lock. Each answers what clGet…Info with CL_…_REFERENCE_COUNT
/// would natively. The object is there.
class ReferenceCounts {
public:
  ReferenceCounts(const Shared& shared, EventTable& events) : cl_(shared.cl), events_(events) {}

  /// `Handle`: a context, queue, memory object, program, kernel, sampler or event.
  template <class Handle> cl_uint of(Handle handle);

private:
  /// By how much a driver's counts grow with an object.
  enum class Weight {
    Memory,
    Part, ///< a sub-buffer
    Queue,
    Program,
    Kernel,
    Sampler,
    UserEvent,
    Command, ///< the event of one that is over
    PartOnBuffer,
    KernelOnProgram,
    CommandOnQueue
  };
  class Measurement;
  class Example;
  class Tally;

  long now(cl_context context);
  long now(cl_command_queue queue);
  long now(cl_mem memory);
  long now(cl_program program);
  /// A kernel, sampler or event: libsplit's objects add nothing to them.
  template <class Handle> long now(Handle handle);
  template <class Handle> long withoutOurs(const References::View& view, Handle handle) const;
  /// `example`: a kernel that is there, where it is about kernels. No lock of the references' is
  /// held.
  long weight(cl_context context, Weight weight, cl_kernel example = nullptr);
  std::optional<long> known(cl_device_id device, Weight weight);
  cl_device_id deviceOf(cl_context context) const;
  std::map<Weight, long> measure(cl_device_id device, Weight weight, bool& isSettled) const;
  std::map<Weight, long> measureAsOf(cl_kernel kernel, cl_context context) const;

  const Dispatch& cl_;
  EventTable& events_;
  std::binary_semaphore measuring_{1};     ///< one thread at a time
  std::atomic<unsigned> measurements_ = 0; ///< begun and over; odd: one is under way
  std::atomic<std::thread::id> measurer_;  ///< whose
  std::mutex mutex_;                       ///< of what follows
  struct Found {
    long growth = 0;
    /// Where it may be another at another time, until when it is taken for this.
    std::optional<std::chrono::steady_clock::time_point> until;
  };
  std::map<std::pair<cl_platform_id, Weight>, Found> weights_;
};

} // namespace libsplit::runtime
