// How tasks come: their order, when they are planned.
#include "runtime/session/scheduler.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/log.h"
#include "runtime/core/thread.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

/// Tasks in a row for which the application has waited, after which it is expected to wait again.
constexpr unsigned rowOfWaits = 4;

} // namespace

/// The end of an event that is the driver's, to be told once.
struct Scheduler::ForeignEnd {
  Ref<cl_event> event;
  std::function<void(cl_int)> job;
  std::shared_ptr<void> hold; ///< of the resolver
  std::atomic<bool> isTold = false;
};

/// What the driver gets for its callback, which may never come.
struct Scheduler::Notification {
  Scheduler* scheduler;
  std::weak_ptr<ForeignEnd> end;
};

void CL_CALLBACK Scheduler::onForeignEvent(cl_event, cl_int, void* notification) {
  // A driver's thread, perhaps with the driver's locks held: only hand it on.
  const std::unique_ptr<Notification> given(static_cast<Notification*>(notification));
  if (const auto end = given->end.lock())
    given->scheduler->tell(end);
}

Scheduler::Scheduler(Shared& shared, const TrackedBuffers& tracked, Mover& mover,
                     FailureHandler& failures)
    : shared_(shared), cl_(shared.cl), machine_(shared.machine), tracked_(tracked), mover_(mover),
      failures_(failures), calls_([this] {
        try {
          goOnUnlocked();
        } catch (const std::exception& error) {
          log(LogLevel::Error, "what waits for calls of the program's is held up: ", error.what());
        }
      }),
      events_(shared.mutex) {
  shared_.beginBook = [this] { beginBook(); };
}

Scheduler::~Scheduler() {
  Lock lock(shared_.mutex);
  for (const auto& [queue, stream] : streams_) {
    stream->aftermath.jobs.clear(); // whose objects are gone
    stream->closed = true;
    stream->wake.notify_all();
  }
  shared_.progress.wait(lock, [&] { return retirers_ == 0; });
}

// --- queues

void Scheduler::created(cl_command_queue queue) {
  add(queue, true);
}

/// `isNew`: if there is one by that handle, it is gone by now. Else another thread has met it, too.
void Scheduler::add(cl_command_queue queue, bool isNew) {
  auto query = cl_.clGetCommandQueueInfo;
  if (!property<cl_device_id>(query, queue, CL_QUEUE_DEVICE))
    return; // not a queue
  auto stream = std::make_shared<Stream>();
  stream->queue = queue;
  stream->context = property<cl_context>(query, queue, CL_QUEUE_CONTEXT);
  stream->device = property<cl_device_id>(query, queue, CL_QUEUE_DEVICE);
  auto properties = property<cl_command_queue_properties>(query, queue, CL_QUEUE_PROPERTIES);
  if (properties & CL_QUEUE_ON_DEVICE)
    return;
  stream->take(properties);
  stream->nativeWork = stream->nativeBarrier = !isNew;
  std::vector<std::shared_ptr<Buffer>> engaged; // not to be destroyed under the lock
  Lock lock(shared_.mutex);
  if (!isNew && streams_.contains(queue))
    return;
  if (!shared_.home)
    shared_.home = stream->device;
  const bool isHome = shared_.home == stream->device;
  if (streams_.size() == 1) // the first queue's work is not in the books
    engaged = askAnew();
  streams_[queue] = std::move(stream);
  lock.unlock();
  if (!isHome)
    shared_.stepAside("the program uses several devices itself");
}

/// From here on it is asked anew what the driver has to do with buffers. The buffers: they are not
/// to be destroyed under the lock.
std::vector<std::shared_ptr<Buffer>> Scheduler::askAnew() {
  std::vector<std::shared_ptr<Buffer>> engaged = tracked_.buffers();
  for (const auto& buffer : engaged)
    if (!buffer->pooled()) // which no driver has anything to do with
      buffer->unbooked = {};
  return engaged;
}

void Scheduler::userEventCreated() {
  if (!shared_.userEvents) {
    std::vector<std::shared_ptr<Buffer>> engaged; // not to be destroyed under the lock
    const Lock lock(shared_.mutex);
    engaged = askAnew(); // the work of queues without order is not in the books, either
    shared_.userEvents = true;
  }
  ++shared_.unsetUserEvents;
}

void Scheduler::changing(cl_command_queue queue, cl_command_queue_properties properties) {
  if (!(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
    return;
  Lock lock(shared_.mutex);
  if (const auto stream = find(queue))
    waitAll(lock, stream);
}

void Scheduler::changed(cl_command_queue queue) {
  const auto properties =
      property<cl_command_queue_properties>(cl_.clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES);
  const Lock lock(shared_.mutex);
  if (const auto stream = find(queue))
    stream->take(properties);
}

void Scheduler::retained(cl_command_queue queue) {
  const Lock lock(shared_.mutex);
  if (auto stream = find(queue))
    ++stream->references;
}

void Scheduler::released(cl_command_queue queue) {
  Aftermath::Spent spent; // not to be let go under the lock
  const Lock lock(shared_.mutex);
  auto stream = find(queue);
  if (!stream || --stream->references > 0)
    return;
  if (stream->idle()) {
    stream->aftermath.settle();
    spent = std::exchange(stream->aftermath.spent, {});
    stream->closed = true;
    stream->wake.notify_one();
    streams_.erase(queue);
  } else {
    // What is pending may wait for the application, so this call must not: the last task closes it.
    stream->keep = Ref<cl_command_queue>::retain(cl_, queue);
  }
}

std::shared_ptr<Stream> Scheduler::find(cl_command_queue queue) const {
  auto found = streams_.find(queue);
  return found == streams_.end() ? nullptr : found->second;
}

std::shared_ptr<Stream> Scheduler::streamOf(Lock& lock, cl_command_queue queue) {
  auto stream = find(queue);
  if (stream || !queue)
    return stream;
  lock.unlock();
  add(queue, false);
  lock.lock();
  return shared_.isActive() ? find(queue) : nullptr;
}

// --- tasks

std::shared_ptr<Task> Scheduler::create(const std::shared_ptr<Stream>& stream,
                                        const Command& command) {
  std::shared_ptr<Task> task = tasks_.take();
  task->stream = stream;
  task->called = std::chrono::steady_clock::now();
  shared_.tracer.callBegins(*task, command.type, command.blocking != CL_FALSE);
  addWaitList(task, command);
  if (!stream->inOrder)
    addBarriers(task, command);
  return task;
}

/// Whether the task comes behind what its queue has natively, of which there may be something new.
bool Scheduler::needsMarker(const Stream& stream) const {
  return stream.nativeWork && (stream.inOrder || stream.nativeBarrier || !shared_.userEvents);
}

/// Puts the task behind what its queue has natively. All that was admitted is there.
void Scheduler::fence(const std::shared_ptr<Task>& task) {
  const std::shared_ptr<Stream>& stream = task->stream;
  if (needsMarker(*stream))
    markNatives(task);
  else if (stream->nativeEnd && !stream->nativeEnd->over())
    task->events.push_back(stream->nativeEnd);
  task->state = Task::State::Fenced; // if all that went well; else it is fenced again
}

/// Has the task wait for a marker behind what its queue has natively.
void Scheduler::markNatives(const std::shared_ptr<Task>& task) {
  const std::shared_ptr<Stream>& stream = task->stream;
  cl_event marker = nullptr;
  cl_int status = cl_.clEnqueueMarkerWithWaitList(stream->queue, 0, nullptr, &marker);
  if (status == CL_SUCCESS) {
    const auto end = Ref<cl_event>::adopt(cl_, marker);
    cl_.clFlush(stream->queue);
    const std::size_t others = task->events.size();
    addNativeEvent(task, end.get());
    if (task->events.size() > others)
      stream->nativeEnd = task->events.back();
  } else {
    auto finished = std::make_shared<Completion>(cl_);
    auto wait = [this, finished, queue = Ref<cl_command_queue>::retain(cl_, stream->queue)] {
      finished->finish(cl_.clFinish(queue.get()));
    };
    if (!startDetached(wait))
      finished->finish(CL_OUT_OF_HOST_MEMORY); // when all before it is over, nobody knows
    task->events.push_back(finished);
    stream->nativeEnd = finished;
  }
  stream->nativeWork = stream->nativeBarrier = false;
}

/// In an out-of-order queue only barriers and markers without a wait list stand behind what came
/// before, and only barriers hold up what comes after.
void Scheduler::addBarriers(const std::shared_ptr<Task>& task, const Command& command) {
  Stream& stream = *task->stream;
  const bool isBarrier = command.type == CL_COMMAND_BARRIER;
  if (isBehindAllBefore(command)) {
    task->waitTasks.insert(task->waitTasks.end(), stream.parked.begin(), stream.parked.end());
    task->waitTasks.insert(task->waitTasks.end(), stream.active.begin(), stream.active.end());
  } else if (auto barrier = stream.barrier.lock()) {
    task->waitTasks.push_back(barrier);
  }
  if (isBarrier)
    stream.barrier = task;
}

void Scheduler::addNativeEvent(const std::shared_ptr<Task>& task, cl_event event) {
  const cl_int status = executionStatus(cl_, event);
  if (status < 0) {
    task->failBehind();
  } else if (status != CL_COMPLETE && !shared_.userEvents) {
    task->events.push_back(Completion::of(cl_, event));
  } else if (status != CL_COMPLETE) {
    auto resolved = [this, weak = std::weak_ptr<Task>(task)](cl_int ended) {
      const Lock lock(shared_.mutex);
      if (auto waiting = weak.lock()) {
        --waiting->unresolved;
        if (ended < 0)
          waiting->failBehind();
        goOn();
      }
    };
    if (callOnEnd(event, resolved))
      ++task->unresolved; // it takes the lock to be told
    else
      task->events.push_back(Completion::of(cl_, event));
  }
}

bool Scheduler::callOnEnd(cl_event event, std::function<void(cl_int)> job) {
  auto hold = resolver_.hold();
  if (!hold)
    return false;
  auto end = std::make_shared<ForeignEnd>();
  end->event = Ref<cl_event>::retain(cl_, event);
  end->job = std::move(job);
  end->hold = std::move(hold);
  auto notification = std::make_unique<Notification>(Notification{this, end});
  foreignEnds_.insert(end);
  if (cl_.clSetEventCallback(event, CL_COMPLETE, onForeignEvent, notification.get()) !=
      CL_SUCCESS) {
    foreignEnds_.erase(end);
    return false;
  }
  static_cast<void>(notification.release());
  return true;
}

/// The event is over. Any thread, with or without the lock.
void Scheduler::tell(const std::shared_ptr<ForeignEnd>& end) {
  if (end->isTold.exchange(true))
    return;
  static_cast<void>(resolver_.post([this, end] {
    end->job(std::min(executionStatus(cl_, end->event.get()), CL_COMPLETE));
    const Lock lock(shared_.mutex);
    foreignEnds_.erase(end);
  }));
}

void Scheduler::userEventFailed() {
  const Lock lock(shared_.mutex);
  for (const std::shared_ptr<ForeignEnd>& end : foreignEnds_)
    if (executionStatus(cl_, end->event.get()) < CL_COMPLETE)
      tell(end);
}

void Scheduler::addWaitList(const std::shared_ptr<Task>& task, const Command& command) {
  for (cl_uint i = 0; i < command.waitCount; ++i) {
    auto ours = events_.find(command.waitList[i]);
    if (!ours) {
      addNativeEvent(task, command.waitList[i]);
    } else if (auto before = ours->ended ? nullptr : ours->task.lock()) {
      task->waitTasks.push_back(before);
    } else if (ours->status < 0) {
      task->failBehind();
    }
  }
}

void Scheduler::attachEvent(Task& task, const Command& command) {
  if (!command.event)
    return;
  cl_int error = CL_SUCCESS;
  cl_event handle = cl_.clCreateUserEvent(task.stream->context, &error);
  if (error != CL_SUCCESS)
    throw std::bad_alloc();
  // The application's own reference.
  std::unique_ptr<_cl_event, decltype(cl_.clReleaseEvent)> given(handle, cl_.clReleaseEvent);
  auto event = std::make_shared<TaskEvent>();
  event->handle = Ref<cl_event>::retain(cl_, handle);
  event->queue = Ref<cl_command_queue>::retain(cl_, command.queue);
  event->type = command.type;
  event->profiled = task.stream->profiled;
  task.event = event;
  events_.add(handle, std::move(event));
  *command.event = given.release();
}

void Scheduler::submit(const std::shared_ptr<Task>& task) {
  if (task->event)
    task->event->task = task;
  ++unfinished_;
  if (shared_.engagements.fetch_add(1) == 0)
    beginBook();
  Stream& stream = *task->stream;
  if (stream.idle()) {
    stream.busySince = task->called;
    stream.submittedIdle = stream.submitted;
  }
  task->number = ++stream.submitted;
  stream.parked.push_back(task);
  task->within = calls_.own();
  if (needsMarker(stream))
    task->calls = std::make_shared<CallTable::Awaited>(
        calls_.await(stream.queue, CallTable::Queues::This, task->within));
  try {
    pump();
  } catch (const std::exception& error) { // the command is in its queue: some thread tries again
    log(LogLevel::Info, "a command is planned later: ", error.what());
    static_cast<void>(startRetiring(task->stream));
  }
  shared_.tracer.callReturns(*task);
}

/// While all was quiet nobody kept book of native commands, but for barriers. From here on each is
/// decided about under the lock.
void Scheduler::beginBook() {
  for (const auto& [queue, each] : streams_)
    each->nativeWork = true;
}

bool Scheduler::canPlan(const Stream& stream, const Task& task) const {
  auto isOver = [](const CompletionPtr& each) { return each->over(); };
  if (task.state != Task::State::Fenced || task.unresolved > 0 || task.waitsForContents ||
      task.awaitsCalls() || suspended_ > 0 || recovering_ ||
      (reservedFor_ && reservedFor_ != task.verification) ||
      !std::all_of(task.awaited.begin(), task.awaited.end(), isOver))
    return false;
  // Of what could not be issued, and is not done again yet, there is nothing to wait for.
  const auto isOpen = [](const std::shared_ptr<Task>& before) {
    return before->planFailed && before->state != Task::State::Retired;
  };
  for (const auto& before : task.waitTasks)
    if (before->isParked() || isOpen(before))
      return false;
  if (std::ranges::any_of(stream.active, isOpen))
    return false;
  if (!task.isLaunch)
    return true;
  auto isLearning = [](const std::shared_ptr<Task>& active) { return active->learning; };
  return std::ranges::none_of(stream.active, isLearning) &&
         launchesOf(stream) < stream.ahead.launches();
}

std::size_t Scheduler::launchesOf(const Stream& stream) {
  return static_cast<std::size_t>(
      std::ranges::count_if(stream.active, [](const auto& task) { return task->isLaunch; }));
}

bool Scheduler::maySettle(const Stream& stream) const {
  auto dependsOnItsQueue = [&](const std::shared_ptr<Task>& task) {
    const bool isBehindItsOwn = std::ranges::all_of(
        task->events, [&](const CompletionPtr& each) { return each == stream.nativeEnd; });
    return task->unresolved == 0 && isBehindItsOwn && !task->awaitsCalls() &&
           std::ranges::all_of(task->waitTasks, [&](const std::shared_ptr<Task>& before) {
             return before->stream.get() == &stream;
           });
  };
  // A callback may wait for what the program holds while it makes this call, and the driver for
  // the callback.
  return !shared_.userEvents && !shared_.callbacks && !CallbackScope::active() &&
         !stream.waitsForOthers && std::ranges::all_of(stream.parked, dependsOnItsQueue) &&
         std::ranges::all_of(stream.active, dependsOnItsQueue);
}

bool Scheduler::waitsForProgram(const Stream& stream) const {
  const auto isUnresolved = [](const std::shared_ptr<Task>& task) { return task->unresolved > 0; };
  return !stream.parked.empty() && std::ranges::any_of(streams_, [&](const auto& each) {
    return std::ranges::any_of(each.second->parked, isUnresolved);
  });
}

void Scheduler::pump(const std::shared_ptr<Stream>& stream) {
  for (std::size_t i = 0; i < stream->parked.size() && !stream->isGated();) {
    std::shared_ptr<Task> task = stream->parked[i];
    if (task->state == Task::State::Submitted && !task->awaitsCalls())
      fence(task);
    if (canPlan(*stream, *task)) {
      activate(task, i);
      plan(task);
      if (!task->mustBePlannedAgain() || !parkAgain(task, i))
        continue;
    }
    if (stream->inOrder)
      break;
    ++i;
  }
  const auto isWatched = [](const std::shared_ptr<Task>& task) { return task->isWatched; };
  if (!stream->parked.empty() && !std::ranges::all_of(stream->active, isWatched))
    watch(*stream); // what is parked may have to wait for it
}

void Scheduler::pump() {
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

/// The queue's parked task of that index is about to be planned. If that throws, it stays parked.
void Scheduler::activate(const std::shared_ptr<Task>& task, std::size_t index) {
  Stream& stream = *task->stream;
  task->after = task->events;
  for (const auto& before : task->waitTasks)
    task->after.insert(task->after.end(), before->parts.begin(), before->parts.end());
  stream.active.push_back(task);
  stream.parked.erase(stream.parked.begin() + static_cast<std::ptrdiff_t>(index));
  task->state = Task::State::Planned;
}

/// What planning it takes is on its way. False if there is no memory for that: it failed then.
bool Scheduler::parkAgain(const std::shared_ptr<Task>& task, std::size_t index) {
  Stream& stream = *task->stream;
  try {
    stream.parked.insert(stream.parked.begin() + static_cast<std::ptrdiff_t>(index), task);
  } catch (const std::bad_alloc&) {
    task->planFailed = true;
    return false;
  }
  stream.active.pop_back();
  task->state = Task::State::Fenced;
  return true;
}

void Scheduler::plan(const std::shared_ptr<Task>& task) {
  Stream& stream = *task->stream;
  task->planned = std::chrono::steady_clock::now();
  task->awaited.clear();
  task->calls.reset();
  for (const auto& before : task->waitTasks)
    if (before->status < 0) // there may be no part that would tell
      task->failBehind(*before);
  task->sequence = ++plannings_;
  callPlan(*task);
  stream.aftermath.settle();
  stream.hasNew = true;
  static_cast<void>(startRetiring(task->stream)); // whoever waits can do it as well
  if (stream.waiters > 0)
    shared_.progress.notify_all(); // some other thread may have brought it about
  if (!expectsWaiter(stream, *task))
    watch(stream);
}

bool Scheduler::startRetiring(const std::shared_ptr<Stream>& stream) {
  if (stream->retiring)
    return true;
  stream->retiring = startDetached([this, stream] { retireLoop(stream); });
  retirers_ += stream->retiring;
  return stream->retiring;
}

/// Whether a thread of the application will probably wait for the task, and nothing else depends on
/// when it retires.
bool Scheduler::expectsWaiter(const Stream& stream, const Task& task) {
  return stream.awaited >= rowOfWaits && !task.event && !task.open && stream.parked.empty();
}

/// Has the queue's own thread see to it that what is planned retires, unless somebody waits for it.
void Scheduler::watch(Stream& stream) {
  for (const std::shared_ptr<Task>& task : stream.active)
    task->isWatched = true;
  if (stream.waiters == 0)
    stream.wake.notify_one();
}

/// Whatever happens, the task is one that somebody retires.
void Scheduler::callPlan(Task& task) {
  bool isLost = task.status < 0;
  try {
    if (!isLost)
      task.plan(task);
  } catch (const LostBytes&) {
    task.status = CL_OUT_OF_RESOURCES;
    task.isUntold = isLost = true;
  } catch (const std::exception& error) {
    log(LogLevel::Info, "a command could not be issued: ", error.what());
    task.planFailed = true;
  }
  try {
    if (isLost)
      failures_.loseOutputs(task);
  } catch (const std::exception& error) {
    log(LogLevel::Error, "who reads what a command did not write is not told: ", error.what());
  }
}

/// Something is there, or over, that tasks may wait for. Threads that do are told even if planning
/// them throws.
void Scheduler::goOn() {
  struct Tells {
    std::condition_variable& progress;
    ~Tells() { progress.notify_all(); }
  } const tells{shared_.progress};
  pump();
}

void Scheduler::goOnUnlocked() {
  const Lock lock(shared_.mutex);
  goOn();
}

std::function<void()> Scheduler::goingOnAfter(CompletionPtr done) {
  auto hold = resolver_.hold();
  if (!hold)
    return nullptr;
  return [this, done = std::move(done), hold = std::move(hold)] {
    static_cast<void>(resolver_.post([this, done] {
      done->wait();
      goOnUnlocked();
    }));
  };
}

void Scheduler::seeThrough(Lock& lock, const std::shared_ptr<Stream>& stream) {
  if (!stream->retiring && !stream->active.empty() && maySettle(*stream))
    waitAll(lock, stream);
}

void Scheduler::endRecovery() {
  recovering_ = false;
  goOn();
}

std::vector<std::shared_ptr<Task>> Scheduler::planned() const {
  std::vector<std::shared_ptr<Task>> tasks;
  for (const auto& [queue, stream] : streams_)
    tasks.insert(tasks.end(), stream->active.begin(), stream->active.end());
  std::ranges::sort(tasks, {}, [](const std::shared_ptr<Task>& task) { return task->sequence; });
  return tasks;
}

/// The calling thread waits for tasks, and it may be in a callback within a call that they await.
void Scheduler::stepBack() {
  if (calls_.stepBack())
    pump();
}

} // namespace libsplit::runtime
