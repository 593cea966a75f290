// The application's queues, the work that libsplit does on their behalf, and the events that stand
// for it.
//
// A queue is used natively as long as libsplit has nothing pending on it. A launch that is split
// becomes a Task; while a queue has unfinished tasks, whatever else the application enqueues there
// becomes a task too, so that the queue's order holds. A task is first *parked*: submitted, then
// fenced, which is behind what its queue has natively, until what the application made it wait for
// is on its way. Then it is *planned*: its commands are issued to the lanes; where planning it
// takes what is still on its way, it is parked again. Once all have ended it is *retired*:
// measured, its event completed (where that calls the application back, on a thread of its own).
// When the last is retired the queue is native again.
//
// Tasks of a queue retire in order, each on whatever thread waits for it: the application's in
// clFinish, clWaitForEvents or a blocking read, which saves waking it up; else the queue's own.
// Where the application has waited for some tasks in a row, the queue's own thread is not told of
// the next one unless something depends on that: to wake it takes as long as all else that a
// launch takes of the host. It looks by itself every now and then, should the application do
// something else this time. While a thread of the application waits, the queue's own leaves all to
// it: two that wait for the same would only get in each other's way. Callbacks of the application's
// have another thread, since nobody knows what they wait for.
#pragma once

#include "runtime/core/call_table.h"
#include "runtime/core/completion.h"
#include "runtime/core/program_wait.h"
#include "runtime/core/worker.h"
#include "runtime/cost/launch_cycle.h"
#include "runtime/cost/launch_ends.h"
#include "runtime/cost/launch_history.h"
#include "runtime/cost/launches_ahead.h"
#include "runtime/cost/planning_budget.h"
#include "runtime/cost/splits_of_late.h"
#include "runtime/cost/timed_turns.h"
#include "runtime/device/memory.h"
#include "runtime/session/moved.h"
#include "runtime/trace/trace.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace libsplit::runtime {

class Program;
struct KernelCode;
struct Launch;
struct Task;
struct Verification;

/// QUEUED, SUBMIT, START, END on the home device's clock.
using ProfilingTimes = std::array<cl_ulong, 4>;

/// An event that libsplit gave to the application. The handle is a user event of the application's
/// context, so that waiting, callbacks and wait lists work natively; queries are answered from
/// here.
struct TaskEvent {
  Ref<cl_event> handle;
  int references = 1; ///< the application's
  /// Kept, as by a command's own event, until the application has released the event; then null.
  Ref<cl_command_queue> queue;
  cl_command_type type = 0;
  std::weak_ptr<Task> task;
  bool ended = false;      ///< status and times are known
  bool completing = false; ///< … is about to be, by who does not call the application back
  bool complete = false;   ///< the handle's status is set: it may be handed to the driver
  unsigned callbacks = 0;  ///< the application's that were not called yet; completing it may do so
  cl_int status = CL_SUCCESS;
  bool profiled = false;
  ProfilingTimes times{};
};

/// A launch of a queue that is over.
struct EndedLaunch {
  std::uint64_t number = 0; ///< in its queue
  std::weak_ptr<KernelCode> code;
  LaunchKey key;
  bool wasSplit = false;
  std::chrono::steady_clock::time_point end;
};

/// What a queue's retired launches leave to be done. It takes a while, and a program that waited
/// for one of them is to go on: so it is done behind the next command, while devices are at work,
/// or by the queue's own thread. Under the session's lock.
struct Aftermath {
  class Job {
  public:
    Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    virtual ~Job() = default;
    virtual void run() = 0;
  };
  using Jobs = std::vector<std::shared_ptr<Job>>;
  Jobs jobs;
  /// To be let go without the lock: drivers may take their time, and call the program back.
  struct Spent {
    Jobs jobs;
    std::vector<CompletionPtr> completions;
    bool empty() const { return jobs.empty() && completions.empty(); }
    void clear() {
      jobs.clear();
      completions.clear();
    }
  } spent;
  /// Does the jobs, in their order.
  void settle() noexcept;
};

struct Stream {
  cl_command_queue queue = nullptr;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  bool inOrder = true;
  bool profiled = false;
  void take(cl_command_queue_properties properties) {
    inOrder = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    profiled = properties & CL_QUEUE_PROFILING_ENABLE;
  }
  int references = 1;          ///< the application's
  Ref<cl_command_queue> keep;  ///< set when it gave the queue up while tasks were pending
  bool nativeWork = false;     ///< native commands were enqueued since the last task
  bool nativeBarrier = false;  ///< … among them a barrier
  std::weak_ptr<Task> barrier; ///< out of order: the last barrier, which later tasks wait for
  std::deque<std::shared_ptr<Task>> parked;
  std::deque<std::shared_ptr<Task>> active; ///< planned, oldest first
  bool retiring = false;                    ///< its retiring thread runs
  bool hasNew = false;                      ///< tasks were planned since that thread looked
  std::uint64_t submitted = 0;              ///< tasks, so far
  std::uint64_t submittedIdle = 0;          ///< … when it was idle last, …
  std::chrono::steady_clock::time_point busySince{}; ///< … which was until then
  unsigned awaited = 0;        ///< tasks in a row that the application waited for when they ended
  unsigned waiters = 0;        ///< threads that wait for tasks, and retire them
  bool closed = false;         ///< the application gave it up: the thread may end
  Worker caller;               ///< completes those events that call the application back
  bool waitsForOthers = false; ///< some native command was to wait for events, perhaps of others
  Aftermath aftermath;
  unsigned heldUp = 0;      ///< launches in a row that are tasks only since others before them are
  PlanningBudget holdingUp; ///< seconds that launches may be held up so, to try what may pay
  std::uint64_t heldUpTo = 0; ///< number of the last launch that counts as held up so
  std::chrono::steady_clock::time_point lastCalled{}; ///< the last launch was
  std::uint64_t waits = 0;     ///< of the program's, when the last launch came
  std::uint64_t sinceWait = 0; ///< launches that came since then, …
  std::uint64_t together = 0;  ///< … and between the two waits before
  /// The launches that came since their thread last waited.
  struct Round {
    const ProgramWait::OfThread* thread = nullptr; ///< only compared; null: there are none
    std::uint64_t waits = 0;                       ///< of the thread's, when the first came
    std::chrono::steady_clock::time_point called;  ///< the first was
    std::uint64_t launches = 0;
  } round;
  std::condition_variable wake; ///< of the retiring thread
  bool hasUntold = false;       ///< a task failed, of which no call told yet
  bool hasFailed = false;       ///< a task, of which the driver's clFinish may tell from then on
  CompletionPtr nativeEnd; ///< the last native command before the first task, if it may still run
  std::chrono::steady_clock::time_point lastRetired{};
  ProfilingTimes times{};                ///< of the last event that has some
  LaunchCycle cycle;                     ///< of its split launches
  std::uint64_t launches = 0;            ///< so far
  std::optional<EndedLaunch> lastLaunch; ///< the last one that was timed
  LaunchEnds ends;                       ///< of those that were tasks
  TimedTurns timed;                      ///< of its split launches
  SplitsOfLate splitsOfLate;
  LaunchesAhead ahead;
  /// Of what launches of its cycle will need elsewhere (prefetcher.h).
  struct Prefetch {
    /// What one launch sent to one node.
    struct Sent {
      NodeId node = hostNode;
      std::uint64_t bytes = 0;
      std::vector<Moved> moves;
    };
    std::uint64_t cycle = 0; ///< its number
    std::vector<Sent> underWay;
    std::vector<double> secondsPerByte; ///< by node, that the last took there; 0: not known
    bool isWanted = false;              ///< some is to be sent
    unsigned tries = 0;                 ///< launches that were to send some, since one did
  } prefetch;
  bool hasSentAhead = false; ///< of which the log has told

  bool idle() const { return parked.empty() && active.empty(); }
  /// The driver has nothing of it that runs or failed, once no task is left, where native commands
  /// are kept book of.
  bool isEmptyNatively() const { return !nativeWork && (!nativeEnd || nativeEnd->succeeded()); }
  /// A gate is planned, and nothing has been since.
  bool isGated() const;
  /// There is a thread that sees to the aftermath if nothing else comes.
  bool mayLeaveAftermath() const { return retiring && !closed; }
};

struct Task : std::enable_shared_from_this<Task> {
  enum class State {
    Submitted, ///< it may come before calls to the driver that are still under way
    Fenced,    ///< behind what its queue has natively
    Planned,   ///< its instructions are issued, or more will be
    Retiring,  ///< some thread has begun to end it: its status is final
    Retired
  };

  std::shared_ptr<Stream> stream;
  std::atomic<State> state = State::Submitted; ///< changed under the session's lock
  /// Emits the task's instructions, or says what it waits for and is called again. Session lock
  /// held; kept until the task retires: it holds what the instructions use.
  std::function<void(Task&)> plan;
  /// Called after all parts ended, session lock held.
  std::function<void(Task&)> retired;

  /// Calls to the driver that come before it, or have to be over for it to be planned.
  std::shared_ptr<const CallTable::Awaited> calls;
  CallTable::Tickets within;                    ///< calls in whose callback it was enqueued
  unsigned unresolved = 0;                      ///< foreign events that are not complete yet
  std::vector<std::shared_ptr<Task>> waitTasks; ///< must be planned, be over and retire before
  std::vector<CompletionPtr> events;            ///< of native commands that it waits for
  std::vector<CompletionPtr> after;             ///< must be over before any part runs
  std::vector<CompletionPtr> parts;             ///< everything that was issued
  std::vector<std::size_t> partDevices;         ///< whose lanes they were issued to
  std::shared_ptr<Launch> launch;               ///< that it is, if any
  /// What it writes, if it is no launch.
  std::vector<std::pair<std::shared_ptr<Buffer>, ByteSet>> outputs;
  std::uint64_t number = 0;                   ///< in the order of its queue
  std::uint64_t sequence = 0;                 ///< in the order of planning, over all queues
  bool planFailed = false;                    ///< planning it threw; something may be issued
  unsigned redone = 0;                        ///< times that a recovery issued parts anew
  const Program* program = nullptr;           ///< whose kernel it launches
  const Verification* verification = nullptr; ///< that it is a step of
  bool isLaunch = false;                      ///< counts against the stream's window
  bool isGate = false;                        ///< nothing behind it is planned before it retires
  bool isPooled = false;    ///< a command on pooled buffers, which no driver is given as such
  bool open = false;        ///< more parts will come; it can't retire yet
  bool isWatched = false;   ///< its queue's retiring thread was told of it
  bool endedUnseen = false; ///< nobody waited when it ended, and when that was nobody knows
  // Planning it takes what is on its way: it is parked again, and then planned anew.
  bool waitsForContents = false;      ///< what buffers hold
  std::vector<CompletionPtr> awaited; ///< where buffers lie, and the ends of unbooked work on them
  bool learning = false;              ///< its timing decides what comes next
  Timing timing = Timing::On;         ///< of its parts
  std::chrono::steady_clock::time_point called{};  ///< when the program enqueued it
  std::chrono::steady_clock::time_point planned{}; ///< when that began
  /// When the first kernel of a launch was about to be enqueued, as natively it would have been.
  std::chrono::steady_clock::time_point issued{};
  cl_int status = CL_SUCCESS;
  bool isBehindFailure = false; ///< it failed for what it waits for, and that is told of elsewhere
  bool isUntold = false;        ///< it failed, and home's driver knows nothing of that
  unsigned helpers = 0;         ///< threads of the application that wait for it
  std::shared_ptr<TaskEvent> event;
  CompletionPtr begin; ///< profiling: starts the event's times
  CompletionPtr end;   ///< ends them
  TracedCall call;     ///< these two only if tracing is on
  std::vector<std::shared_ptr<TracedWork>> traced;

  /// It waits for what failed.
  void failBehind() {
    status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    isBehindFailure = true;
  }
  void failBehind(const Task& before) {
    failBehind();
    isUntold = isUntold || before.isUntold;
  }
  /// Whether home's driver knows nothing of it that the task failed: something did on another
  /// device, or home was not given all that it was to do, or did not take it.
  bool hasFailedUntold(std::size_t home) const {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i]->hasFailed() &&
          (partDevices[i] != home || parts[i]->outcome() == Outcome::Refused))
        return true;
    return planFailed;
  }
  /// Not planned yet, or to be planned again.
  bool isParked() const { return state < State::Planned; }
  /// Nobody else is to end it.
  bool isEnding() const { return state >= State::Retiring; }
  bool awaitsCalls() const { return calls && !calls->areOver(); }
  /// Also where it is over by now: the planning went on without it.
  bool mustBePlannedAgain() const { return waitsForContents || !awaited.empty() || calls; }
  /// Those that each task fills (core/spares.h).
  auto lists() { return std::tie(awaited, partDevices, parts, after, events, waitTasks); }
};

inline bool Stream::isGated() const {
  return !active.empty() && active.back()->isGate;
}

} // namespace libsplit::runtime
