// How tasks go: each on whatever thread waits for it, else on its queue's own.
#include "runtime/session/scheduler.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/forks.h"
#include "runtime/core/log.h"
#include "runtime/core/thread.h"
#include "runtime/session/launch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory_resource>
#include <thread>

namespace libsplit::runtime {

namespace {

bool isAnyWatched(const Stream& stream) {
  return std::ranges::any_of(stream.active,
                             [](const std::shared_ptr<Task>& task) { return task->isWatched; });
}

/// While this lives the calling thread waits for the task, if it is `helping`. With the session's
/// lock.
class Helping {
public:
  Helping(Task& task, bool helping) : task_(task), helping_(helping) { task_.helpers += helping_; }
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;
  ~Helping() { task_.helpers -= helping_; }

private:
  Task& task_;
  const bool helping_;
};

/// Whether the job was done: it may throw, for want of memory mostly. With the lock, which it may
/// give up meanwhile.
template <class Job> bool tryTo(Lock& lock, const Job& job) {
  try {
    job();
    return true;
  } catch (const std::exception& error) {
    if (!lock.owns_lock())
      lock.lock();
    log(LogLevel::Info, "a command's end is not seen to as it should be: ", error.what());
    return false;
  }
}

constexpr std::chrono::milliseconds untilThereIsMemory(1);

/// While this lives the calling thread waits for tasks of the queue. With the session's lock.
class Waiting {
public:
  explicit Waiting(Stream& stream) : stream_(stream) { ++stream.waiters; }
  ~Waiting() {
    if (--stream_.waiters == 0 && isAnyWatched(stream_))
      stream_.wake.notify_one();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

private:
  Stream& stream_;
};

/// While this lives a thread of the program's waits. With the session's lock, but for its end.
class ProgramWaits {
public:
  /// `ending`: at the process's end, the machine, which is to compile for who waits. Else null.
  ProgramWaits(std::atomic<unsigned>& count, Machine* ending) : count_(count) {
    ++count_;
    if (ending)
      ending->resumeCompiling();
  }
  ~ProgramWaits() { --count_; }
  ProgramWaits(const ProgramWaits&) = delete;
  ProgramWaits& operator=(const ProgramWaits&) = delete;

private:
  std::atomic<unsigned>& count_;
};

/// Nanoseconds that the launch's longest piece took, if its event is to tell of times; 0: nobody
/// knows.
cl_ulong longestPiece(const Task& task) {
  cl_ulong longest = 0;
  if (task.launch && task.event && task.event->profiled)
    for (const LaunchIssued& piece : task.launch->issued)
      if (const auto interval = piece.kernel ? piece.kernel->interval() : std::nullopt)
        longest = std::max(longest, interval->end - interval->start);
  return longest;
}

/// Has a command begin so much before its end: the marker that stands for its begin may come late.
void takeAtLeast(cl_ulong nanoseconds, ProfilingTimes& times) {
  if (nanoseconds > times[3])
    return;
  times[2] = std::min(times[2], times[3] - nanoseconds);
  times[1] = std::min(times[1], times[2]);
  times[0] = std::min(times[0], times[1]);
}

} // namespace

void Aftermath::settle() noexcept {
  Jobs due;
  due.swap(jobs);
  for (std::shared_ptr<Job>& job : due)
    try {
      job->run();
      spent.jobs.push_back(std::move(job));
    } catch (const std::exception& error) {
      log(LogLevel::Info, "what a launch took is not noted: ", error.what());
    }
  due.clear();
  if (jobs.empty())
    jobs.swap(due); // for its memory
}

void Scheduler::retireLoop(std::shared_ptr<Stream> stream) {
  constexpr auto pause = std::chrono::milliseconds(2); // how late what nobody waits for may retire
  constexpr unsigned mostPauses = idleTime / pause;
  const auto isWanted = [&] {
    return stream->waiters == 0 && (stream->closed || isAnyWatched(*stream));
  };
  Aftermath::Spent spent; // empty whenever the lock is held; keeps its memory
  Lock lock(shared_.mutex);
  std::chrono::milliseconds until = pause;
  // As long as anything is there, also what can't be planned yet: another thread may not be to be
  // had by then.
  for (unsigned pauses = 0; pauses < mostPauses || !stream->idle(); ++pauses) {
    stream->wake.wait_for(lock, until, isWanted);
    if (std::exchange(stream->hasNew, false) || !stream->active.empty())
      pauses = 0;
    const bool mayTakeLong = stream->active.empty() && !stream->parked.empty();
    until = mayTakeLong ? std::min(2 * until, idleTime) : pause;
    if (!stream->aftermath.jobs.empty()) {
      lock.unlock();
      const Unforked work; // they ask the driver for times
      lock.lock();
      stream->aftermath.settle();
    }
    if (!stream->aftermath.spent.empty()) {
      std::swap(spent, stream->aftermath.spent);
      const Unlocked unlocked(lock);
      const Unforked work; // drivers', mostly
      spent.clear();
    }
    if (stream->active.empty() && !stream->parked.empty()) // planning it may have lacked memory
      tryTo(lock, [&] { pump(); });
    if (stream->waiters > 0)
      continue; // who retire what is there
    if (!stream->active.empty()) {
      if (!tryTo(lock, [&] { retireOldest(lock, stream, false); }))
        shared_.progress.wait_for(lock, untilThereIsMemory);
    } else if (stream->closed) {
      break;
    }
  }
  stream->aftermath.settle();
  stream->retiring = false;
  --retirers_;
  shared_.progress.notify_all();
}

void Scheduler::retireOldest(Lock& lock, const std::shared_ptr<Stream>& stream, bool helping) {
  std::shared_ptr<Task> task = stream->active.front();
  {
    const Helping help(*task, helping);
    shared_.progress.wait(lock, [&] { return !task->open; });
    if (std::ranges::all_of(task->parts, [](const CompletionPtr& part) { return part->poll(); })) {
      task->endedUnseen = task->endedUnseen || (!task->isWatched && task->helpers == helping);
      stream->awaited = 0;
    } else if (helping) {
      ++stream->awaited;
    }
    awaitParts(lock, *task, helping);
  }
  if (!helping)
    shared_.progress.wait(lock, [&] { return task->isEnding() || task->helpers == 0; });
  if (task->isEnding()) {
    awaitRetired(lock, *task);
    return;
  }
  if (!helping)
    stream->awaited = 0;
  task->state = Task::State::Retiring;
  retire(lock, task);
}

/// Waits for what was issued for the task, and for what is issued anew where that failed. Its
/// status is final then.
void Scheduler::awaitParts(Lock& lock, Task& task, bool helping) {
  for (;;) {
    const unsigned round = task.redone;
    std::array<std::byte, 512> room; // few tasks have so many that they take more
    std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
    const std::pmr::vector<CompletionPtr> parts(task.parts.begin(), task.parts.end(), &memory);
    if (helping) {
      const Unlocked unlocked(lock);
      machine_->help(parts);
    }
    cl_int status = awaitUnlocked(lock, parts);
    shared_.progress.wait(lock, [&] { return !recovering_; });
    if (task.redone != round)
      continue;
    if (task.planFailed)
      status = std::min(status, CL_OUT_OF_HOST_MEMORY);
    if (status < 0 && task.status >= 0 && !task.isEnding() && failures_.recover(lock, task))
      continue;
    if (!task.isEnding() && status < 0 && task.status >= 0) {
      task.status = status;
      task.isUntold = task.hasFailedUntold(machine_->home());
      failures_.loseOutputs(task);
    }
    return;
  }
}

/// The program waits, which has the driver begin what it was given. What is pending may depend on
/// that: in a queue without order no marker, which would be flushed, stands behind such commands
/// where there are user events.
void Scheduler::flush(Lock& lock, const std::shared_ptr<Stream>& stream) const {
  if (!stream->nativeWork || stream->idle())
    return;
  lock.unlock();
  cl_.clFlush(stream->queue);
  lock.lock();
}

/// Another thread is about to end `task`.
void Scheduler::awaitRetired(Lock& lock, const Task& task) {
  constexpr auto longEnough = std::chrono::microseconds(50);
  lock.unlock();
  const auto begin = std::chrono::steady_clock::now();
  while (task.state != Task::State::Retired &&
         std::chrono::steady_clock::now() - begin < longEnough)
    std::this_thread::yield();
  lock.lock();
  shared_.progress.wait(lock, [&] { return task.state == Task::State::Retired; });
}

/// Of what the task held, and of what has arrived of what was sent ahead.
void Scheduler::letGo(Lock& lock, Task& task) {
  struct Held {
    decltype(task.plan) plan;
    decltype(task.retired) retired;
    decltype(task.parts) parts;
    decltype(task.launch) launch;
    decltype(task.outputs) outputs;
    decltype(task.event) event;
    std::vector<CompletionPtr> events, after;
    CompletionPtr begin, end;
    std::vector<std::shared_ptr<Task>> arrived;
  };
  GoesUnlocked held(lock, Held{std::exchange(task.plan, nullptr),
                               std::exchange(task.retired, nullptr),
                               {},
                               std::move(task.launch),
                               std::move(task.outputs),
                               std::move(task.event),
                               std::move(task.events),
                               std::move(task.after),
                               std::move(task.begin),
                               std::move(task.end),
                               {}});
  tryTo(lock, [&] {
    held->arrived = mover_.takeArrived();
    if (!task.isLaunch || !task.stream->mayLeaveAftermath() || shared_.steppingAside ||
        shared_.ending)
      return;
    std::vector<CompletionPtr>& spent = task.stream->aftermath.spent.completions;
    std::ranges::move(task.parts, std::back_inserter(spent));
    task.parts.clear(); // and keeps its memory
    for (const std::shared_ptr<Task>& each : held->arrived)
      std::ranges::move(std::exchange(each->parts, {}), std::back_inserter(spent));
  });
  if (!task.parts.empty())
    held->parts = std::move(task.parts);
}

/// Whatever fails, the task is retired: who waits for that would wait for ever.
void Scheduler::retire(Lock& lock, const std::shared_ptr<Task>& task) {
  // Whoever sees this one's event complete must see those complete that it waited for.
  for (const auto& before : task->waitTasks)
    while (!tryTo(lock, [&] { await(lock, before); }))
      shared_.progress.wait_for(lock, untilThereIsMemory);
  task->waitTasks.clear();
  if (task->status < 0)
    log(LogLevel::Debug, "a command ended with error ", task->status);
  // What was sent ahead has nobody who waits for it, and would see that it failed.
  if (auto found = recovering_ ? nullptr : mover_.failedAhead()) {
    GoesUnlocked failed(lock, std::move(found));
    tryTo(lock, [&] { static_cast<void>(failures_.recover(lock, **failed)); });
  }
  const cl_ulong longest = longestPiece(*task); // before it is learnt from
  tryTo(lock, [&] {
    if (task->retired)
      task->retired(*task);
  });
  tryTo(lock, [&] { shared_.tracer.retired(*task, shared_.devices()); });
  endEvent(*task, longest);
  // Where nobody but a wait hears of it, that comes first.
  std::shared_ptr<TaskEvent> calling =
      task->event && task->event->callbacks > 0 ? task->event : nullptr;
  if (task->event && !calling) {
    task->event->completing = true;
    completeEvent(lock, *task->event);
  }
  // What it held goes before anybody sees it retired, so that objects which the application gave
  // up are gone after clFinish. Not under the lock: drivers may call back into the application.
  letGo(lock, *task);
  if (calling) // a callback may want the room of what the program gave up, or free memory of it
    tryTo(lock, [&] { mover_.awaitSentFromProgramsMemory(lock); });
  std::shared_ptr<Stream> stream = task->stream;
  if (calling)
    ++callingBack_;
  task->state = Task::State::Retired;
  stream->hasUntold = stream->hasUntold || task->isUntold;
  stream->hasFailed = stream->hasFailed || task->status < 0;
  stream->active.pop_front();
  stream->lastRetired = std::chrono::steady_clock::now();
  tryTo(lock, [&] { goOn(); });
  if (stream->references == 0 && stream->idle()) {
    stream->aftermath.settle();
    streams_.erase(stream->queue);
    stream->closed = true;
    stream->wake.notify_one();
    const GoesUnlocked held(lock, std::pair(std::exchange(stream->keep, {}),
                                            std::exchange(stream->aftermath.spent, {})));
  }
  if (calling)
    return callBack(lock, stream, std::move(calling));
  finished(lock);
}

/// A task has retired, and its event is complete.
void Scheduler::finished(Lock& lock) {
  --shared_.engagements;
  if (--unfinished_ == 0 && shared_.allRetired)
    shared_.allRetired(lock);
}

/// Before the process ends: lets what is under way come to its end, since handlers that follow may
/// still ask for it. What waits for the program is not waited for; and what a driver does in the
/// background, it would not have finished without libsplit either. False if it takes too long.
bool Scheduler::finish(Lock& lock) {
  std::vector<Aftermath::Spent> spent;
  for (const auto& [queue, stream] : streams_) {
    stream->aftermath.settle();
    spent.push_back(std::exchange(stream->aftermath.spent, {}));
  }
  lock.unlock();
  spent.clear();
  lock.lock();
  if (CallbackScope::active())
    return false; // perhaps of one of the tasks
  auto waitsForProgram = [](const std::shared_ptr<Task>& task) {
    return !task->waitsForContents && task->awaited.empty();
  };
  auto isUnderWay = [&](const auto& entry) {
    const Stream& stream = *entry.second;
    return !stream.active.empty() ||
           !std::all_of(stream.parked.begin(), stream.parked.end(), waitsForProgram);
  };
  for (const auto& [queue, stream] : streams_)
    watch(*stream);
  const bool wouldBeOver = machine_ && machine_->homeDevice().runsInCaller;
  return shared_.progress.wait_for(lock, std::chrono::seconds(wouldBeOver ? 30 : 2), [&] {
    return callingBack_ == 0 && std::none_of(streams_.begin(), streams_.end(), isUnderWay);
  });
}

Machine* Scheduler::endingMachine() const {
  return shared_.ending ? machine_.get() : nullptr;
}

void Scheduler::forgoContents() {
  for (const auto& [queue, stream] : streams_)
    for (const std::shared_ptr<Task>& task : stream->parked)
      task->waitsForContents = false;
  goOn();
}

/// What the program is told from here on, if it asks. `leastNanoseconds`: that the command took.
void Scheduler::endEvent(Task& task, cl_ulong leastNanoseconds) {
  TaskEvent* event = task.event.get();
  if (!event)
    return;
  if (event->profiled && task.begin && task.end) {
    event->times[0] = task.begin->profilingTime(CL_PROFILING_COMMAND_QUEUED).value_or(0);
    event->times[1] = task.begin->profilingTime(CL_PROFILING_COMMAND_SUBMIT).value_or(0);
    event->times[2] = task.begin->profilingTime(CL_PROFILING_COMMAND_START).value_or(0);
    event->times[3] = task.end->profilingTime(CL_PROFILING_COMMAND_END).value_or(0);
    takeAtLeast(leastNanoseconds, event->times);
    // They come from several commands, the first perhaps from one that began late, or at once
    // though others of its queue were still running.
    ProfilingTimes& before = task.stream->times;
    if (task.stream->inOrder) {
      event->times[0] = std::max(event->times[0], before[0]);
      event->times[2] = std::max(event->times[2], before[3]);
    }
    for (std::size_t i = 1; i < std::size(event->times); ++i)
      event->times[i] = std::max(event->times[i], event->times[i - 1]);
    before = event->times;
  }
  event->status = std::min(task.status, CL_COMPLETE);
  event->ended = true;
}

/// Whoever waits for the event in the driver goes on from here, and the application's callbacks run
/// in here.
void Scheduler::completeEvent(Lock& lock, TaskEvent& event) {
  const cl_int status = event.status;
  lock.unlock();
  {
    const Unforked work;
    cl_.clSetUserEventStatus(event.handle.get(), status);
  }
  lock.lock();
  event.complete = true;
}

/// Has the event completed, which calls the application back, on a thread that has nothing else to
/// do: a callback may take a lock that a thread of the application holds while it waits, or wait
/// for what is behind its command.
void Scheduler::callBack(Lock& lock, const std::shared_ptr<Stream>& stream,
                         std::shared_ptr<TaskEvent> event) {
  const auto call = [this, event = std::move(event)](Lock& held) {
    completeEvent(held, *event);
    --callingBack_;
    shared_.progress.notify_all();
    finished(held);
  };
  bool isPosted = false;
  tryTo(lock, [&] {
    isPosted = stream->caller.post([this, call, keeps = stream] { // the worker is the queue's
      Lock held(shared_.mutex);
      call(held);
      --retirers_;
      shared_.progress.notify_all();
    });
  });
  if (isPosted)
    ++retirers_;
  else
    call(lock);
}

/// Some drivers call back before they go on with what comes next, and programs count on that.
/// With others, programs may wait under a lock that the callback takes. And since libsplit has
/// another thread call back than those drivers have, even theirs are held up a few times only, and
/// for a while.
void Scheduler::awaitCallbacks(Lock& lock) {
  constexpr std::chrono::seconds patience(1);
  constexpr unsigned mostInVain = 3; // in a row
  if (!machine_ || !machine_->homeCallsBackFirst() || CallbackScope::active() ||
      callbacksInVain_ >= mostInVain || !isCallingBack())
    return;
  const bool isOver = shared_.progress.wait_for(lock, patience, [&] { return !isCallingBack(); });
  callbacksInVain_ = isOver ? 0 : callbacksInVain_ + 1;
}

cl_int Scheduler::waitFor(Lock& lock, const std::shared_ptr<Task>& task) {
  const std::shared_ptr<Stream> stream = task->stream;
  flush(lock, stream);
  const ProgramWaits program(programWaits_, endingMachine());
  const cl_int status = await(lock, task);
  awaitCallbacks(lock);
  return status;
}

/// The same by whoever ends another one.
cl_int Scheduler::await(Lock& lock, const std::shared_ptr<Task>& task) {
  const std::shared_ptr<Stream> stream = task->stream;
  const Waiting waiting(*stream);
  stepBack();
  while (task->state != Task::State::Retired) {
    if (stream->active.empty())
      shared_.progress.wait(lock);
    else
      retireOldest(lock, stream, true);
  }
  return task->status;
}

cl_int Scheduler::waitForTurn(Lock& lock, const std::shared_ptr<Task>& gate) {
  const std::shared_ptr<Stream> stream = gate->stream;
  flush(lock, stream);
  const ProgramWaits program(programWaits_, endingMachine());
  const Waiting waiting(*stream);
  stepBack();
  while (gate->isParked() || stream->active.front() != gate) {
    if (stream->active.empty())
      shared_.progress.wait(lock);
    else
      retireOldest(lock, stream, true);
  }
  awaitParts(lock, *gate, true);
  for (const auto& before : gate->waitTasks)
    await(lock, before);
  auto held = std::exchange(gate->plan, [](Task&) {});
  lock.unlock();
  held = nullptr;
  lock.lock();
  return gate->status;
}

void Scheduler::letPass(const std::shared_ptr<Task>& gate) {
  const std::shared_ptr<Stream>& stream = gate->stream;
  gate->open = false;
  if (needsMarker(*stream))
    for (const std::shared_ptr<Task>& behind : stream->parked)
      behind->calls = std::make_shared<CallTable::Awaited>(calls_.await(
          stream->queue, CallTable::Queues::This, behind->within, CallTable::Own::Counts));
  watch(*stream);
  shared_.progress.notify_all();
}

void Scheduler::waitAll(Lock& lock, const std::shared_ptr<Stream>& stream) {
  flush(lock, stream);
  stepBack();
  const auto isAwaited = [last = stream->submitted](const std::shared_ptr<Task>& task) {
    return task->number <= last;
  };
  const auto isAnyAwaited = [&] {
    return std::ranges::any_of(stream->active, isAwaited) ||
           std::ranges::any_of(stream->parked, isAwaited);
  };
  const ProgramWaits program(programWaits_, endingMachine());
  for (const Waiting waiting(*stream); isAnyAwaited();) {
    if (stream->active.empty())
      shared_.progress.wait(lock);
    else
      retireOldest(lock, stream, true);
  }
  awaitCallbacks(lock);
  // What the program gave up is gone when its commands are over.
  if (mover_.sendsUnusedBuffer())
    mover_.awaitSentAhead(lock);
}

} // namespace libsplit::runtime
