// The end of one piece of work on one device, to wait for from any thread and any context.
//
// OpenCL events can't be waited on across contexts by a queue, but any host thread can wait for any
// event. A Completion is what a consumer on another device holds before the producer's command even
// exists: it waits first for the submission, then for the event itself.
#pragma once

#include "runtime/core/opencl.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

namespace libsplit::runtime {

/// Device time of a command, nanoseconds on the device's own clock.
struct DeviceInterval {
  cl_ulong start = 0;
  cl_ulong end = 0;
  double seconds() const { return end > start ? static_cast<double>(end - start) * 1e-9 : 0; }
  /// From the earlier start to the later end, on one device.
  static DeviceInterval around(const std::optional<DeviceInterval>& a, const DeviceInterval& b) {
    return a ? DeviceInterval{std::min(a->start, b.start), std::max(a->end, b.end)} : b;
  }
};

/// How far an event is; `unanswered` where the driver does not say.
inline cl_int executionStatus(const Dispatch& cl, cl_event event, cl_int unanswered = CL_QUEUED) {
  return property<cl_int>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, unanswered);
}

/// Waits until the event is over: CL_SUCCESS, or what its command or the wait ended with. That the
/// driver refuses to wait says nothing of the command: it is asked again until it tells how that
/// ended. A driver that does not answer either, or refuses for seconds while it says that the
/// command runs, has lost it; who gave that command memory can only leave it to it then.
cl_int awaitEvent(const Dispatch& cl, cl_event event);

/// How a piece of work ended.
enum class Outcome {
  Succeeded,
  Skipped, ///< something that it depends on failed, so nothing was done
  Refused, ///< the driver did not take it, so nothing was done
  Failed,  ///< it may have been done in part
};

class Completion {
public:
  explicit Completion(const Dispatch& cl) : cl_(cl) {}
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  /// What is kept of one for the next (Spares).
  auto lists() { return std::tie(spare_); }
  /// An empty list for what it depends on, perhaps with memory of an earlier one's. Before others
  /// know of it.
  std::vector<std::shared_ptr<Completion>> takeList() { return std::move(spare_); }

  /// An event that some command already has.
  static std::shared_ptr<Completion> of(const Dispatch& cl, cl_event event);

  /// The command was enqueued on `queue` of `context`; its end is `event`'s. Called once, or
  /// `finish` instead. Null: nobody may count on that queue's order, or wait for it in a context.
  /// `implied`: what it depends on and nobody waited for, since the queue's order or its wait list
  /// sees to it. A queue goes on after a command that failed; what came of that is a failure too.
  void submit(Ref<cl_event> event, cl_command_queue queue, cl_context context = nullptr,
              std::vector<std::shared_ptr<Completion>> implied = {});
  /// A command of the work that comes before the one that will be submitted, in the same queue. Its
  /// failure is the work's. Called in order, and before `submit`.
  void precede(Ref<cl_event> command);
  /// The work is over without a command that could be waited for.
  void finish(cl_int status) { finish(status, status < 0 ? Outcome::Refused : Outcome::Succeeded); }
  void finish(cl_int status, Outcome outcome);
  /// The driver refused a command of it with `status`. Waits for those that it took before.
  void abandon(cl_int status);

  /// Blocks until the work is over; its status. Any thread.
  cl_int wait();
  /// Blocks until the work is enqueued or over, no longer.
  void waitSubmitted();
  /// Enqueued or over. Never blocks.
  bool submitted() const { return state_ != State::Pending; }
  /// True if a command enqueued on in-order queue `queue` now runs after this work anyway.
  bool precedes(cl_command_queue queue) const;
  /// The work's event, if it is under way and a command in `context` can wait for it; else null.
  Ref<cl_event> eventIn(cl_context context) const;
  /// Known to be over. Never blocks; may answer false although it is.
  bool over() const { return state_ == State::Over; }
  /// The same, asking the driver.
  bool poll();
  /// Once it is over.
  Outcome outcome() const { return over() ? outcome_ : Outcome::Succeeded; }
  /// Known to be over, and done. Never blocks.
  bool succeeded() const { return over() && outcome_ == Outcome::Succeeded; }
  /// Known to be over, and not done, or not all of it. Never blocks.
  bool hasFailed() const { return over() && outcome() != Outcome::Succeeded; }

  /// Times on the device, from the first command's start to the last one's end, once over and where
  /// the queue records them.
  std::optional<DeviceInterval> interval() const;
  /// Seconds of that for which the device was at work on its commands, not on others between them.
  std::optional<double> secondsAtWork() const;
  /// One of the four profiling times, CL_PROFILING_COMMAND_QUEUED to _END, once over and where the
  /// queue records them.
  std::optional<cl_ulong> profilingTime(cl_profiling_info name) const;

  /// When the work was handed to its driver. Whoever does that sets it before `submit`; asked once
  /// it is over.
  std::chrono::steady_clock::time_point begun;

  /// The number that a trace has for the work; 0: none. Whoever issues it sets and asks it, under
  /// a lock of theirs.
  std::uint64_t tracedAs = 0;

  /// Of the commands that it was.
  struct Ends {
    cl_int worst = CL_SUCCESS;
    bool noneRan = false; ///< since something in their wait lists had failed
  };

private:
  enum class State { Pending, Submitted, Over };
  /// One whose own commands are over, on the way along what is implied.
  struct Link;
  std::optional<Link> follow(bool mayBlock, std::shared_ptr<Completion> keep);
  std::optional<cl_int> resolve(bool mayBlock);
  cl_int end(const Link& link);
  void settle(const Link& link);
  void keepMemory(std::vector<std::shared_ptr<Completion>>& list);
  const std::optional<DeviceInterval>& intervalLocked() const;
  std::optional<cl_ulong> timeOf(cl_profiling_info name) const;
  std::optional<cl_ulong> timeOf(const Ref<cl_event>& command, cl_profiling_info name) const;

  const Dispatch& cl_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  /// Changed under the lock, and last: what goes with it may then be read without.
  std::atomic<State> state_ = State::Pending;
  cl_int status_ = CL_SUCCESS;
  Outcome outcome_ = Outcome::Succeeded;
  std::vector<Ref<cl_event>> preceding_;
  Ref<cl_event> event_;
  cl_command_queue queue_ = nullptr;
  cl_context context_ = nullptr;
  std::vector<std::shared_ptr<Completion>> implied_; ///< until it is over
  std::vector<std::shared_ptr<Completion>> spare_;   ///< empty; for its memory
  mutable std::optional<DeviceInterval> interval_;   ///< once somebody asked
};

using CompletionPtr = std::shared_ptr<Completion>;

} // namespace libsplit::runtime
