// A thread that feeds one device.
//
// Instructions reach a lane in an order in which each depends only on earlier-issued ones, of this
// or any other lane; so first-in-first-out lanes never deadlock. Before it enqueues an instruction
// the lane waits for those dependencies that neither the instruction's in-order queue implies nor
// its commands can wait for themselves: work of other queues in the same context, where the driver
// can be trusted with wait lists. It does not wait for its own commands: on a GPU the queue stays
// filled; a device that executes inside the calling thread (PoCL's basic) runs here, beside the
// application and the other devices.
//
// A GPU has several lanes, each with a queue of its own (machine.h, Engine).
//
// Handing an instruction to another thread costs tens of microseconds. One that is marked immediate
// is enqueued by whoever issues it, if the lane has nothing else to do and nothing to wait for; and
// a thread of the application that waits for a lane's work meanwhile does it (`help`). What a lane
// computes itself is its thread's, which is woken where the caller runs if it is asked for
// (placing.h).
#pragma once

#include "runtime/core/completion.h"
#include "runtime/core/placing.h"
#include "runtime/core/thread.h"
#include "runtime/trace/trace.h"

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace libsplit::runtime {

/// Events that a command is enqueued behind.
struct WaitList {
  const std::vector<cl_event>& events;
  cl_uint count() const { return static_cast<cl_uint>(events.size()); }
  const cl_event* data() const { return events.empty() ? nullptr : events.data(); }
};

struct Instruction {
  std::vector<CompletionPtr> after;
  /// The in-order queue that `run` enqueues on: dependencies on it are implied. Null: wait for all.
  cl_command_queue queue = nullptr;
  /// The context of `run`'s commands, if they are to wait themselves for work of other queues in
  /// it. Null: all such work is waited for before `run`, and it gets no events.
  cl_context context = nullptr;
  /// Enqueues the commands, each behind `waits`, and hands out the last one's event, or leaves it
  /// null if the work is over on return; tells `done`, the instruction's, of those before it. Runs
  /// on the lane's thread, or where it was issued; one at a time.
  std::function<cl_int(WaitList waits, Completion& done, cl_event* last)> run;
  std::shared_ptr<const void> holds; ///< what `run` uses and does not hold itself
  CompletionPtr done;
  /// `run` returns in microseconds, whatever the device does: it may run in the issuing thread.
  bool immediate = false;
  /// Whoever issues it is about to wait: the lane's thread is to run where that one does.
  bool isPlaced = false;
  /// The driver may have to compile for it, in the call or on a thread of its own: the first run of
  /// a kernel over a work-group of that size.
  bool compiles = false;
  std::shared_ptr<TracedWork> traced; ///< null unless tracing is on

  /// It will not be run (again).
  void letGo() {
    run = nullptr;
    holds = nullptr;
  }
  /// It is nobody's business any more, either.
  void forget() {
    letGo();
    after.clear();
    done = nullptr;
    traced = nullptr;
  }
};

class Lane {
public:
  Lane(const Dispatch& cl, std::string name);
  /// As `end`. Lanes that it follows have ended before.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Callable from any thread; returns at once. Refused with CL_OUT_OF_HOST_MEMORY if that takes a
  /// thread and there is none to be had.
  void issue(Instruction&& instruction);
  /// Finishes what was issued, then joins the thread.
  void end();
  /// Sees to it that there is a thread, so that nothing is refused. False: none is to be had.
  [[nodiscard]] bool start();
  /// A lane whose instructions mostly wait for this one's to be enqueued: whoever enqueues here
  /// then enqueues there, too, what need not wait for anything else. Waking another thread for that
  /// would take as long as a short kernel. Before the first instruction.
  void addFollower(Lane& follower) { followers_.push_back(&follower); }
  /// Executes the next instruction on the calling thread, which has nothing better to do than to
  /// wait for it, unless the lane's own thread is at work or something that the instruction depends
  /// on is not even enqueued. False: nothing was done. Waking the lane's thread
  /// would take as long as a short kernel does.
  bool help();
  /// Until `resumeCompiling` begins nothing that may compile, and nothing at all behind what it
  /// does not begin: the process ends, and with it what a compiler needs.
  void suspendCompiling();
  /// Goes on where it left off: natively, too, who waits at the process's end has the driver
  /// compile.
  void resumeCompiling();
  /// Whether the driver may be compiling for an instruction that has begun, other than one that the
  /// calling thread is executing.
  bool isCompiling();

private:
  bool mayBegin(const Instruction& instruction);
  void hold(Instruction& instruction);
  void refuse(Instruction& instruction);
  static bool mustWait(const Instruction& instruction);
  bool runImmediately(Instruction& instruction);
  Instruction takeFirst();
  void advance();
  void executeAlone(Instruction& instruction);
  bool startLocked();
  void loop();
  void execute(Instruction& instruction);

  const Dispatch& cl_;
  std::string name_;
  std::vector<Lane*> followers_;
  std::mutex mutex_;
  std::mutex compilingMutex_; ///< of the next two; no other lock is taken while it is held
  bool noCompile_ = false;
  std::vector<CompletionPtr> compiling_; ///< begun, perhaps over
  std::condition_variable changed_;
  Placing placing_; ///< of its thread
  std::deque<Instruction> queue_;
  std::atomic<bool> isFilled_ = false; ///< that; changed under the lock
  bool busy_ = false;                  ///< an instruction is being executed
  bool isHeld_ = false;                ///< the first one may not begin
  bool stopping_ = false;
  std::thread thread_; ///< since the first instruction that nobody else executed at once
};

} // namespace libsplit::runtime
