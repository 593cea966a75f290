// How tasks come, go and keep their order; see stream.h for the states.
//
// Two rules keep this free of deadlocks. A task is planned only when nothing that it waits for
// depends on the application any more (user events, commands behind them); once planned, its
// instructions depend only on instructions planned earlier. And no driver call that can wait for
// other work, and no user callback, happens under the session's lock.
#include "runtime/session/session.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/log.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// Launches of one queue that are issued ahead of the one that runs. More hide more latency; fewer
/// let what was measured take effect sooner.
constexpr std::size_t window = 8;

struct Notification {
  Worker* resolver;
  std::function<void()> job;
};

void CL_CALLBACK onForeignEvent(cl_event, cl_int, void* data) {
  // A driver's thread, perhaps with the driver's locks held: only hand it on.
  std::unique_ptr<Notification> notification(static_cast<Notification*>(data));
  notification->resolver->post(std::move(notification->job));
}

} // namespace

std::shared_ptr<Task> Session::newTask(const std::shared_ptr<Stream>& stream,
                                       const Command& command) {
  auto task = std::make_shared<Task>();
  task->stream = stream;
  shared_.tracer.callBegins(*task, command.type, command.blocking != CL_FALSE);
  addWaitList(task, command);
  if (!stream->inOrder)
    addBarriers(task, command);
  return task;
}

/// Whether the task comes behind what its queue has natively, of which there may be something new.
bool Session::needsMarker(const Stream& stream) const {
  return stream.nativeWork && (stream.inOrder || stream.nativeBarrier || !userEvents_);
}

/// Puts the task behind what its queue has natively. All that was admitted is there.
void Session::fence(const std::shared_ptr<Task>& task) {
  const std::shared_ptr<Stream>& stream = task->stream;
  task->isFenced = true;
  if (!needsMarker(*stream)) {
    if (stream->nativeEnd && !stream->nativeEnd->over())
      task->events.push_back(stream->nativeEnd);
    return;
  }
  cl_event marker = nullptr;
  cl_int status = cl_.clEnqueueMarkerWithWaitList(stream->queue, 0, nullptr, &marker);
  if (status == CL_SUCCESS) {
    cl_.clFlush(stream->queue);
    const std::size_t others = task->events.size();
    addNativeEvent(task, marker);
    if (task->events.size() > others)
      stream->nativeEnd = task->events.back();
    cl_.clReleaseEvent(marker);
  } else {
    auto finished = std::make_shared<Completion>(cl_);
    startThread([this, finished, queue = Ref<cl_command_queue>::retain(cl_, stream->queue)] {
      finished->finish(cl_.clFinish(queue.get()));
    }).detach();
    task->events.push_back(finished);
    stream->nativeEnd = finished;
  }
  stream->nativeWork = stream->nativeBarrier = false;
}

/// In an out-of-order queue only barriers and markers without a wait list stand behind what came
/// before, and only barriers hold up what comes after.
void Session::addBarriers(const std::shared_ptr<Task>& task, const Command& command) {
  Stream& stream = *task->stream;
  const bool isBarrier = command.type == CL_COMMAND_BARRIER;
  if ((isBarrier || command.type == CL_COMMAND_MARKER) && command.waitCount == 0) {
    task->waitTasks.insert(task->waitTasks.end(), stream.parked.begin(), stream.parked.end());
    task->waitTasks.insert(task->waitTasks.end(), stream.active.begin(), stream.active.end());
  } else if (auto barrier = stream.barrier.lock()) {
    task->waitTasks.push_back(barrier);
  }
  if (isBarrier)
    stream.barrier = task;
}

void Session::addNativeEvent(const std::shared_ptr<Task>& task, cl_event event) {
  auto status = property<cl_int>(cl_.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
  if (status < 0) {
    task->status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  } else if (status != CL_COMPLETE && !userEvents_) {
    task->events.push_back(Completion::of(cl_, event));
  } else if (status != CL_COMPLETE) {
    ++task->unresolved;
    auto resolved = [this, weak = std::weak_ptr<Task>(task)] {
      std::lock_guard lock(mutex_);
      if (auto waiting = weak.lock()) {
        --waiting->unresolved;
        pumpAll();
      }
    };
    if (!callOnEnd(event, resolved)) {
      --task->unresolved;
      task->events.push_back(Completion::of(cl_, event));
    }
  }
}

/// Has `job` run by the resolver once the event is complete or failed. False if that can't be.
bool Session::callOnEnd(cl_event event, std::function<void()> job) {
  auto notification = std::make_unique<Notification>(Notification{&resolver_, std::move(job)});
  if (cl_.clSetEventCallback(event, CL_COMPLETE, onForeignEvent, notification.get()) != CL_SUCCESS)
    return false;
  static_cast<void>(notification.release());
  return true;
}

void Session::addWaitList(const std::shared_ptr<Task>& task, const Command& command) {
  for (cl_uint i = 0; i < command.waitCount; ++i) {
    auto ours = events_.find(command.waitList[i]);
    if (!ours) {
      addNativeEvent(task, command.waitList[i]);
    } else if (!ours->complete) {
      if (auto before = ours->task.lock())
        task->waitTasks.push_back(before);
    } else if (ours->status < 0) {
      task->status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
  }
}

void Session::attachEvent(Task& task, const Command& command) {
  if (!command.event)
    return;
  cl_int error = CL_SUCCESS;
  cl_event handle = cl_.clCreateUserEvent(task.stream->context, &error);
  if (error != CL_SUCCESS)
    throw std::bad_alloc();
  auto event = std::make_shared<TaskEvent>();
  event->handle = Ref<cl_event>::retain(cl_, handle);
  event->queue = command.queue;
  event->type = command.type;
  event->profiled = task.stream->profiled;
  task.event = event;
  events_.add(handle, std::move(event));
  *command.event = handle;
}

void Session::submit(const std::shared_ptr<Task>& task) {
  if (task->event)
    task->event->task = task;
  ++unfinishedTasks_;
  // While all was quiet nobody kept book of native commands. From here on each is decided about
  // under the lock, and none goes to this queue.
  if (engagements_.fetch_add(1) == 0)
    for (const auto& [queue, each] : streams_)
      each->nativeWork = each->nativeBarrier = true;
  task->stream->parked.push_back(task);
  task->within = calls_.own();
  if (needsMarker(*task->stream))
    task->calls = std::make_shared<CallTable::Awaited>(
        calls_.await(task->stream->queue, CallTable::Queues::This, task->within));
  pumpAll();
  shared_.tracer.callReturns(*task);
}

bool Session::canPlan(const Stream& stream, const Task& task) const {
  auto isOver = [](const CompletionPtr& each) { return each->over(); };
  if (!task.isFenced || task.unresolved > 0 || task.waitsForContents || task.awaitsCalls() ||
      openChunks_ || recovering_ ||
      (openVerification_ && openVerification_.get() != task.verification) ||
      !std::all_of(task.awaited.begin(), task.awaited.end(), isOver))
    return false;
  for (const auto& before : task.waitTasks)
    if (before->state == Task::State::Parked)
      return false;
  if (!task.isLaunch)
    return true;
  auto isLearning = [](const std::shared_ptr<Task>& active) { return active->learning; };
  return std::ranges::none_of(stream.active, isLearning) && launchesOf(stream) < window;
}

/// Launches that are planned and not retired.
std::size_t Session::launchesOf(const Stream& stream) {
  return static_cast<std::size_t>(
      std::ranges::count_if(stream.active, [](const auto& task) { return task->isLaunch; }));
}

/// Whether the program enqueues launches faster than they are done.
bool Session::isFilled(const Stream& stream) {
  return launchesOf(stream) >= window;
}

void Session::pump(const std::shared_ptr<Stream>& stream) {
  for (std::size_t i = 0; i < stream->parked.size();) {
    std::shared_ptr<Task> task = stream->parked[i];
    if (!task->isFenced && !task->awaitsCalls())
      fence(task);
    if (canPlan(*stream, *task)) {
      stream->parked.erase(stream->parked.begin() + static_cast<std::ptrdiff_t>(i));
      planTask(task);
      if (!task->mustBePlannedAgain())
        continue;
      task->state = Task::State::Parked;
      stream->active.pop_back();
      stream->parked.insert(stream->parked.begin() + static_cast<std::ptrdiff_t>(i), task);
    }
    if (stream->inOrder)
      return;
    ++i;
  }
}

void Session::pumpAll() {
  // Planning in one queue may free tasks in another.
  bool again = true;
  while (again) {
    again = false;
    for (const auto& [queue, stream] : streams_) {
      std::size_t before = stream->parked.size();
      if (before > 0)
        pump(stream);
      again = again || stream->parked.size() != before;
    }
  }
}

void Session::planTask(const std::shared_ptr<Task>& task) {
  Stream& stream = *task->stream;
  task->state = Task::State::Active;
  task->planned = std::chrono::steady_clock::now();
  task->awaited.clear();
  task->calls.reset();
  task->after = task->events;
  for (const auto& before : task->waitTasks) {
    task->after.insert(task->after.end(), before->parts.begin(), before->parts.end());
    if (before->state == Task::State::Retired && before->status < 0)
      failBehind(*task, *before);
  }
  task->sequence = ++plannings_;
  stream.active.push_back(task);
  if (task->status >= 0)
    callPlan(*task);
  else
    loseOutputs(*task);
  if (!stream.retiring) {
    stream.retiring = true;
    startThread([this, shared = task->stream] { retireLoop(shared); }).detach();
  }
  stream.wake.notify_one();
}

/// `task` waits for what failed.
void Session::failBehind(Task& task, const Task& before) {
  task.status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  task.hasLost = task.hasLost || before.hasLost;
}

void Session::callPlan(Task& task) {
  try {
    task.plan(task);
  } catch (const LostBytes&) {
    task.status = CL_OUT_OF_RESOURCES;
    task.hasLost = true;
    loseOutputs(task);
  } catch (const std::exception& error) {
    log(LogLevel::Info, "a command could not be issued: ", error.what());
    task.planFailed = true;
  }
}

void Session::retireLoop(std::shared_ptr<Stream> stream) {
  Lock lock(mutex_);
  while (true) {
    // Not for ever: a thread would keep a process alive whose own threads have all ended.
    stream->wake.wait_for(lock, std::chrono::milliseconds(100),
                          [&] { return !stream->active.empty() || stream->closed; });
    if (stream->active.empty()) {
      stream->retiring = false;
      return;
    }
    retireOldest(lock, stream, false);
  }
}

void Session::retireOldest(Lock& lock, const std::shared_ptr<Stream>& stream, bool helping) {
  std::shared_ptr<Task> task = stream->active.front();
  task->helpers += helping;
  progress_.wait(lock, [&] { return !task->open; });
  awaitParts(lock, *task, helping);
  task->helpers -= helping;
  // The application's callbacks run in the queue's own thread: they may take locks that a thread of
  // the application holds while it waits.
  auto runsCallbacks = [&] { return task->event && task->event->callbacks; };
  if (helping && runsCallbacks())
    progress_.notify_all();
  else if (!helping)
    progress_.wait(lock, [&] { return task->retiring || task->helpers == 0 || runsCallbacks(); });
  if (task->retiring || (helping && runsCallbacks())) {
    awaitRetired(lock, *task);
    return;
  }
  task->retiring = true;
  retire(lock, task);
}

/// Waits for what was issued for the task, and for what is issued anew where that failed. Its
/// status is final then.
void Session::awaitParts(Lock& lock, Task& task, bool helping) {
  for (;;) {
    const unsigned round = task.redone;
    const std::vector<CompletionPtr> parts = task.parts;
    lock.unlock();
    if (helping)
      machine_->help(parts);
    cl_int status = CL_SUCCESS;
    for (const CompletionPtr& part : parts)
      status = std::min(status, part->wait());
    lock.lock();
    progress_.wait(lock, [&] { return !recovering_; });
    if (task.redone != round)
      continue;
    if (task.planFailed)
      status = std::min(status, CL_OUT_OF_HOST_MEMORY);
    if (status < 0 && !task.retiring && recover(lock, task))
      continue;
    if (!task.retiring && status < 0 && task.status >= 0) {
      task.status = status;
      task.hasLost = helperFailed(task);
      loseOutputs(task);
    }
    return;
  }
}

/// Another thread is about to end `task`.
void Session::awaitRetired(Lock& lock, const Task& task) {
  constexpr auto longEnough = std::chrono::microseconds(50);
  lock.unlock();
  const auto begin = std::chrono::steady_clock::now();
  while (task.state != Task::State::Retired &&
         std::chrono::steady_clock::now() - begin < longEnough)
    std::this_thread::yield();
  lock.lock();
  progress_.wait(lock, [&] { return task.state == Task::State::Retired; });
}

void Session::retire(Lock& lock, const std::shared_ptr<Task>& task) {
  // Whoever sees this one's event complete must see those complete that it waited for.
  for (const auto& before : task->waitTasks)
    waitFor(lock, before);
  task->waitTasks.clear();
  if (task->status < 0)
    log(LogLevel::Debug, "a command ended with error ", task->status);
  if (task->retired)
    task->retired(*task);
  shared_.tracer.retired(*task, devices());
  completeEvent(lock, *task);
  // What it held goes before anybody sees it retired, so that objects which the application gave
  // up are gone after clFinish. Not under the lock: drivers may call back into the application.
  auto plan = std::exchange(task->plan, nullptr);
  auto retired = std::exchange(task->retired, nullptr);
  auto held = std::move(task->parts);
  auto launch = std::move(task->launch);
  auto outputs = std::move(task->outputs);
  auto arrived = mover_.takeArrived();
  task->after.clear();
  lock.unlock();
  plan = nullptr;
  retired = nullptr;
  held.clear();
  launch = nullptr;
  outputs.clear();
  arrived.clear();
  lock.lock();
  std::shared_ptr<Stream> stream = task->stream;
  task->state = Task::State::Retired;
  stream->hasLost = stream->hasLost || task->hasLost;
  stream->active.pop_front();
  stream->lastRetired = std::chrono::steady_clock::now();
  --engagements_;
  --unfinishedTasks_;
  leaveIfAllIsHome();
  goOn();
  if (stream->references == 0 && stream->idle()) {
    streams_.erase(stream->queue);
    stream->closed = true;
    stream->wake.notify_one();
    auto keep = std::exchange(stream->keep, {});
    lock.unlock();
    keep = {};
    lock.lock();
  }
}

/// Before the process ends: lets what is under way come to its end, since handlers that follow may
/// still ask for it. What waits for the program is not waited for; and what a driver does in the
/// background, it would not have finished without libsplit either. False if it takes too long.
bool Session::finishTasks(Lock& lock) {
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
  const bool wouldBeOver = machine_ && machine_->homeDevice().runsInCaller;
  return progress_.wait_for(lock, std::chrono::seconds(wouldBeOver ? 30 : 2), [&] {
    return std::none_of(streams_.begin(), streams_.end(), isUnderWay);
  });
}

void Session::completeEvent(Lock& lock, Task& task) {
  TaskEvent* event = task.event.get();
  if (!event)
    return;
  if (event->profiled && task.begin && task.end) {
    event->times[0] = task.begin->profilingTime(CL_PROFILING_COMMAND_QUEUED).value_or(0);
    event->times[1] = task.begin->profilingTime(CL_PROFILING_COMMAND_SUBMIT).value_or(0);
    event->times[2] = task.begin->profilingTime(CL_PROFILING_COMMAND_START).value_or(0);
    event->times[3] = task.end->profilingTime(CL_PROFILING_COMMAND_END).value_or(0);
    // They come from several commands, the first perhaps from one that began late.
    for (std::size_t i = 1; i < std::size(event->times); ++i)
      event->times[i] = std::max(event->times[i], event->times[i - 1]);
  }
  event->status = std::min(task.status, CL_COMPLETE);
  event->ended = true;
  // Whoever waits for the event goes on from here, and the application's callbacks run in here.
  lock.unlock();
  cl_.clSetUserEventStatus(event->handle.get(), event->status);
  lock.lock();
  event->complete = true;
}

/// Something is there, or over, that tasks may wait for.
void Session::goOn() {
  pumpAll();
  progress_.notify_all();
}

/// Calls have ended that somebody awaits.
void Session::callsEnded() {
  try {
    const std::lock_guard lock(mutex_);
    goOn();
  } catch (const std::exception& error) {
    log(LogLevel::Error, "what waits for calls of the program's is held up: ", error.what());
  }
}

/// The calling thread waits for tasks, and it may be in a callback within a call that they await.
void Session::stepBack() {
  if (calls_.stepBack())
    pumpAll();
}

cl_int Session::waitFor(Lock& lock, const std::shared_ptr<Task>& task) {
  const std::shared_ptr<Stream> stream = task->stream;
  stepBack();
  while (task->state != Task::State::Retired) {
    if (stream->active.empty())
      progress_.wait(lock);
    else
      retireOldest(lock, stream, true);
  }
  return task->status;
}

void Session::waitIdle(Lock& lock, const std::shared_ptr<Stream>& stream) {
  stepBack();
  while (!stream->idle()) {
    if (stream->active.empty())
      progress_.wait(lock);
    else
      retireOldest(lock, stream, true);
  }
  // What the program gave up is gone when its commands are over.
  if (mover_.sendsUnusedBuffer())
    mover_.awaitSentAhead(lock);
}

void Session::awaitEvents(cl_uint count, const cl_event* list) {
  if (events_.isEmpty() || !list)
    return;
  Lock lock(mutex_);
  for (cl_uint i = 0; i < count; ++i) {
    auto ours = events_.find(list[i]);
    if (!ours)
      continue;
    if (auto task = ours->task.lock())
      waitFor(lock, task);
  }
}

} // namespace libsplit::runtime
