// The program's queues and the tasks in them: how tasks come, go and keep their order. stream.h
// tells the states that a task goes through.
//
// Two rules keep this free of deadlocks. A task is planned only when nothing that it waits for
// depends on the program any more (user events, commands behind them); once planned, its
// instructions depend only on instructions planned earlier. And no driver call that can wait for
// other work, and no user callback, happens under the session's lock.
#pragma once

#include "runtime/core/call_table.h"
#include "runtime/core/program_wait.h"
#include "runtime/core/spares.h"
#include "runtime/core/thread.h"
#include "runtime/core/worker.h"
#include "runtime/session/command.h"
#include "runtime/session/event_table.h"
#include "runtime/session/mover.h"
#include "runtime/session/shared.h"
#include "runtime/session/stream.h"
#include "runtime/session/tracked_buffers.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// What becomes of tasks that a device failed. With the session's lock.
class FailureHandler {
public:
  /// Issues anew what can be, of all tasks that failed. Whether that is so for `failed`: its parts
  /// are other ones then. May give up the lock meanwhile.
  virtual bool recover(Lock& lock, const Task& failed) = 0;
  /// The task ended with an error: nobody is to read what it should have written.
  virtual void loseOutputs(const Task& task) = 0;

protected:
  ~FailureHandler() = default;
};

/// With the session's lock, where nothing else is said.
class Scheduler {
public:
  using Streams = std::unordered_map<cl_command_queue, std::shared_ptr<Stream>>;

  /// `failures` need not be there yet.
  Scheduler(Shared& shared, const TrackedBuffers& tracked, Mover& mover, FailureHandler& failures);
  /// Ends the queues' own threads, once the program's callbacks have returned. No task is left, and
  /// nobody calls any more.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Queues, as the program makes and drops them; without the lock.
  /// One of another device than those before has the session step aside.
  void created(cl_command_queue queue);
  /// The program is about to give it other properties (clSetCommandQueueProperty of OpenCL 1.0).
  /// Where these say in which order commands are done, all that it was given is over afterwards.
  void changing(cl_command_queue queue, cl_command_queue_properties properties);
  void changed(cl_command_queue queue);
  void retained(cl_command_queue queue);
  void released(cl_command_queue queue);
  /// … a user event. It is about to be, so that nobody meets one of which the session knows
  /// nothing.
  void userEventCreated();
  /// Whether the program has one in that context. With the lock.
  bool hasQueueIn(cl_context context) const {
    return std::ranges::any_of(streams_,
                               [&](const auto& each) { return each.second->context == context; });
  }

  const Streams& streams() const { return streams_; }
  /// Null if it is not known.
  std::shared_ptr<Stream> find(cl_command_queue queue) const;
  /// Also of a queue that a call made which libsplit does not see, an extension's. Null if it is
  /// none, or if libsplit has stepped aside. May give up the lock meanwhile.
  std::shared_ptr<Stream> streamOf(Lock& lock, cl_command_queue queue);

  /// What the program's threads enqueue. Any thread.
  CallTable& calls() { return calls_; }
  /// The events that libsplit gave to the program.
  EventTable& events() { return events_; }
  const EventTable& events() const { return events_; }

  // A task's way in.
  /// One that stands for the command: behind what that waits for.
  std::shared_ptr<Task> create(const std::shared_ptr<Stream>& stream, const Command& command);
  /// The program gets an event for it, if it wants one. Throws if the driver makes none.
  void attachEvent(Task& task, const Command& command);
  /// Sees to it that the queue has a thread of its own, by which tasks there retire whatever the
  /// program does. False: there is none to be had.
  [[nodiscard]] bool startRetiring(const std::shared_ptr<Stream>& stream);
  /// It comes after all that is in its queue by now.
  void submit(const std::shared_ptr<Task>& task);

  /// Something is there, or over, that tasks may wait for: plans what can be, tells who waits.
  void goOn();
  /// The same, from a thread that has not got the lock.
  void goOnUnlocked();
  /// To be called, without the lock, once `done` is about to be over: then the same. Null if there
  /// is no thread for that.
  std::function<void()> goingOnAfter(CompletionPtr done);
  /// Has tasks planned that can be, and tells nobody.
  void pump();
  /// Has `job` called with the status of the driver's event, on a thread of libsplit's and without
  /// the lock, once that is complete or failed. False if that can't be.
  bool callOnEnd(cl_event event, std::function<void(cl_int)> job);
  /// The program had a user event of its own fail, and with it what waits for that. Without the
  /// lock. PoCL up to 3.1 calls nobody back then.
  void userEventFailed();

  // Waiting, without the lock meanwhile. The calling thread lends a hand.
  /// The task's status.
  cl_int waitFor(Lock& lock, const std::shared_ptr<Task>& task);
  /// Until all that the queue has by now is over. Others may go on filling it.
  void waitAll(Lock& lock, const std::shared_ptr<Stream>& stream);
  /// Whether the program is being called back for what has retired. Costs no lock.
  bool isCallingBack() const { return callingBack_ > 0; }
  /// Until that is over, where home's driver has calls wait for that: for a while.
  void awaitCallbacks(Lock& lock);
  /// Until all that is in its queue before `gate`, which is open, has retired, and what was issued
  /// for it is over. Its status. It holds nothing any more then.
  cl_int waitForTurn(Lock& lock, const std::shared_ptr<Task>& gate);
  /// In the thread for which the gate stood, before that gives up the lock: what was admitted since
  /// its turn came is in the queue before all that is behind the gate.
  void letPass(const std::shared_ptr<Task>& gate);
  /// Where the queue could get no thread of its own: until what is planned there has retired, as
  /// far as the program does not have to see to that.
  void seeThrough(Lock& lock, const std::shared_ptr<Stream>& stream);
  /// Before the process ends: until what is under way is over. False if that takes too long.
  bool finish(Lock& lock);
  /// Whether a thread of the program's waits for what is in a queue.
  bool isWaitedFor() const { return programWaits_ > 0; }
  /// After it: launches that wait to be told what buffers contain go without.
  void forgoContents();

  /// What a call that waits has to tell of commands that failed in the queue and of which no call
  /// has told yet: CL_SUCCESS, or an error, once.
  static cl_int tell(Stream& stream) {
    return std::exchange(stream.hasUntold, false) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
  }

  // Who may be planned.
  /// Nobody, until that is `resumed` as often.
  void suspend() { ++suspended_; }
  void resume() { --suspended_; }
  /// Only what is part of `verification`; of null: everybody.
  void reserveFor(const Verification* verification) { reservedFor_ = verification; }
  /// Nobody, and none retires either, while a recovery goes on.
  void beginRecovery() { recovering_ = true; }
  void endRecovery();
  bool isRecovering() const { return recovering_; }

  /// Planned and not retired, in the order in which they were planned.
  std::vector<std::shared_ptr<Task>> planned() const;
  /// Plans the task's instructions once more, of which there are none.
  void planAgain(Task& task) { callPlan(task); }
  bool isEmpty() const { return unfinished_ == 0; }
  /// Launches that are planned there, and not retired.
  static std::size_t launchesOf(const Stream& stream);
  /// Tasks that were planned so far, each as often as it was.
  std::uint64_t plannings() const { return plannings_; }
  /// Whether nothing that is pending there can be waiting for what the program does only later: a
  /// call that need not wait may then do so.
  bool maySettle(const Stream& stream) const;
  /// Whether what is pending there may be waiting for what the program does only later: a user
  /// event, or a command behind one.
  bool waitsForProgram(const Stream& stream) const;

private:
  Machine* endingMachine() const;
  void add(cl_command_queue queue, bool isNew);
  std::vector<std::shared_ptr<Buffer>> askAnew();
  bool needsMarker(const Stream& stream) const;
  void fence(const std::shared_ptr<Task>& task);
  void markNatives(const std::shared_ptr<Task>& task);
  void addWaitList(const std::shared_ptr<Task>& task, const Command& command);
  static void addBarriers(const std::shared_ptr<Task>& task, const Command& command);
  void addNativeEvent(const std::shared_ptr<Task>& task, cl_event event);
  struct ForeignEnd;
  struct Notification;
  static void CL_CALLBACK onForeignEvent(cl_event event, cl_int status, void* notification);
  void tell(const std::shared_ptr<ForeignEnd>& end);
  void pump(const std::shared_ptr<Stream>& stream);
  bool canPlan(const Stream& stream, const Task& task) const;
  void beginBook();
  static void activate(const std::shared_ptr<Task>& task, std::size_t index);
  static bool parkAgain(const std::shared_ptr<Task>& task, std::size_t index);
  void plan(const std::shared_ptr<Task>& task);
  static bool expectsWaiter(const Stream& stream, const Task& task);
  static void watch(Stream& stream);
  void callPlan(Task& task);
  void stepBack();

  void retireLoop(std::shared_ptr<Stream> stream);
  void retireOldest(Lock& lock, const std::shared_ptr<Stream>& stream, bool helping);
  void awaitParts(Lock& lock, Task& task, bool helping);
  void letGo(Lock& lock, Task& task);
  void retire(Lock& lock, const std::shared_ptr<Task>& task);
  void flush(Lock& lock, const std::shared_ptr<Stream>& stream) const;
  cl_int await(Lock& lock, const std::shared_ptr<Task>& task);
  void awaitRetired(Lock& lock, const Task& task);
  static void endEvent(Task& task, cl_ulong leastNanoseconds);
  void completeEvent(Lock& lock, TaskEvent& event);
  void callBack(Lock& lock, const std::shared_ptr<Stream>& stream,
                std::shared_ptr<TaskEvent> event);
  void finished(Lock& lock);

  Shared& shared_;
  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  const TrackedBuffers& tracked_;
  Mover& mover_;
  FailureHandler& failures_;
  CallTable calls_;
  EventTable events_;
  Streams streams_;
  Spares<Task> tasks_;
  std::size_t unfinished_ = 0;  ///< tasks
  std::uint64_t plannings_ = 0; ///< of tasks, so far
  unsigned suspended_ = 0;
  std::atomic<unsigned> programWaits_{0}; ///< threads
  unsigned retirers_ = 0;                 ///< queues' own threads that run, and calls back
  std::atomic<unsigned> callingBack_{0};  ///< events that are being completed, of all queues
  unsigned callbacksInVain_ = 0;          ///< waits for callbacks, in a row, that took too long
  bool recovering_ = false;
  const Verification* reservedFor_ = nullptr;
  std::set<std::shared_ptr<ForeignEnd>> foreignEnds_; ///< that somebody waits for
  Worker resolver_;                                   ///< foreign events that completed
};

/// A call of the program's that waits for commands, if it is one, for as long as this is there.
/// Made and destroyed without the session's lock: callbacks are waited for at its end.
class BlockingCall {
public:
  BlockingCall(Shared& shared, Scheduler& scheduler, bool isBlocking)
      : mutex_(shared.mutex), scheduler_(isBlocking ? &scheduler : nullptr),
        wait_(shared.waits, isBlocking) {}
  ~BlockingCall() {
    if (scheduler_ && scheduler_->isCallingBack()) {
      const Uncancelled whole;
      Lock lock(mutex_);
      scheduler_->awaitCallbacks(lock);
    }
  }
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;

private:
  std::mutex& mutex_;
  Scheduler* scheduler_; ///< null: it does not wait
  const ProgramWait wait_;
};

} // namespace libsplit::runtime
