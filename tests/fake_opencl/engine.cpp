#include "tests/fake_opencl/engine.h"

#include "tests/fake_opencl/driver.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace libsplit::fake {

namespace {

/// What a call takes on the virtual clock.
constexpr Nanoseconds callTime = 200;

Nanoseconds nanoseconds(double seconds) {
  return static_cast<Nanoseconds>(seconds * 1e9);
}

bool isOver(const Keep<cl_event>& event) {
  return event->over();
}

} // namespace

Engine::Engine(Driver& driver) : driver_(driver), random_(driver.configuration.seed) {
  thread_ = std::thread([this] { loop(); });
  caller_ = std::thread([this] { callLoop(); });
}

Engine::~Engine() {
  {
    std::lock_guard lock(driver_.mutex);
    stopping_ = true;
    mayGoOn_.notify_all();
    called_.notify_all();
  }
  thread_.join();
  caller_.join();
}

Nanoseconds Engine::now() const {
  if (!driver_.configuration.realClock)
    return clock_;
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<Nanoseconds>(std::chrono::nanoseconds(time).count());
}

cl_int Engine::enqueue(Lock& lock, const Enqueue& how, Resource resource, double seconds, Work work,
                       std::function<void()> cleanUp) {
  const cl_command_queue queue = how.queue;
  if ((how.waitCount == 0) != (how.waitList == nullptr))
    return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < how.waitCount; ++i) {
    if (!driver_.isAlive(how.waitList[i])) {
      driver_.misuse("a wait list with a handle of nothing");
      return CL_INVALID_EVENT_WAIT_LIST;
    }
    if (how.waitList[i]->context.get() != queue->context.get())
      return CL_INVALID_CONTEXT;
    if (how.blocking && how.waitList[i]->status < 0)
      return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  clock_ += callTime;

  auto command = std::make_shared<Command>();
  auto event = std::make_unique<_cl_event>();
  event->context = queue->context;
  event->queue = Keep<cl_command_queue>(queue);
  event->type = how.type;
  event->profiled = (queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  event->times[0] = event->times[1] = now();
  const cl_event handle = driver_.adopt(std::move(event));
  command->event = Keep<cl_event>(handle);
  command->resource = resource;
  command->seconds = seconds;
  command->work = std::move(work);
  command->cleanUp = std::move(cleanUp);
  command->flushed = !driver_.configuration.strictFlush;
  command->barrier = how.type == CL_COMMAND_BARRIER;
  command->late = random_() % 2 == 0;
  for (cl_uint i = 0; i < how.waitCount; ++i)
    command->waits.emplace_back(how.waitList[i]);
  if (queue->inOrder()) {
    if (!queue->pending.empty())
      command->behind.push_back(queue->pending.back()->event);
  } else {
    const bool all = (command->barrier || how.type == CL_COMMAND_MARKER) && how.waitCount == 0;
    for (const Pointer& before : queue->pending)
      if (all || before->barrier)
        command->behind.push_back(before->event);
  }
  if (queue->pending.empty())
    queues_.push_back(queue);
  queue->pending.push_back(command);

  if (how.event)
    *how.event = handle; // with the reference that it was born with
  else
    release(handle);
  if (queue->device->configuration.inCaller) {
    command->flushed = true;
    while (!mayBegin(*command, true))
      ended_.wait(lock);
    Running running = begin(lock, command);
    if (driver_.configuration.realClock && now() < running.end) {
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::nanoseconds(running.end - now()));
      lock.lock();
    }
    finish(lock, running);
  } else {
    mayGoOn_.notify_all();
  }
  return how.blocking ? std::min(wait(lock, command->event.get()), CL_SUCCESS) : CL_SUCCESS;
}

void Engine::flush(cl_command_queue queue) {
  bool isNew = false;
  for (const Pointer& command : queue->pending)
    isNew |= !std::exchange(command->flushed, true);
  if (isNew)
    mayGoOn_.notify_all();
}

cl_int Engine::wait(Lock& lock, cl_event event) {
  const Keep<cl_event> keep(event);
  if (event->queue)
    flush(event->queue.get());
  event->ended.wait(lock, [&] { return event->over(); });
  return event->status;
}

void Engine::waitIdle(Lock& lock, cl_command_queue queue) {
  const Keep<cl_command_queue> keep(queue);
  flush(queue);
  // What others enqueue meanwhile need not be waited for.
  std::vector<Pointer> pending = queue->pending;
  for (const Pointer& command : pending)
    command->event->ended.wait(lock, [&] { return command->event->over(); });
}

bool Engine::mayBegin(const Command& command, bool despiteHold) const {
  return !command.begun && command.flushed && (despiteHold || command.heldUntil <= endings_) &&
         std::ranges::all_of(command.waits, isOver) && std::ranges::all_of(command.behind, isOver);
}

Engine::Pointer Engine::next(bool despiteHold) {
  std::vector<Pointer> ready;
  for (cl_command_queue queue : queues_) {
    if (queue->device->configuration.inCaller)
      continue;
    for (const Pointer& command : queue->pending)
      if (mayBegin(*command, despiteHold))
        ready.push_back(command);
  }
  if (ready.empty())
    return nullptr;
  return ready[driver_.configuration.shuffle ? random_() % ready.size() : 0];
}

/// The command's work, and its status. Without the lock meanwhile.
cl_int Engine::perform(Lock& lock, Command& command, cl_int status) {
  if (!command.work || (status < 0 && !command.half))
    return status;
  Work work = std::exchange(command.work, nullptr);
  lock.unlock();
  const cl_int result = work(status < 0);
  lock.lock();
  return status < 0 ? status : result;
}

Engine::Running Engine::begin(Lock& lock, const Pointer& command) {
  command->begun = true;
  cl_event event = command->event.get();
  cl_device_id device = event->queue->device;
  cl_int status = CL_SUCCESS;
  Nanoseconds start = std::max(now(), event->times[0]);
  for (const Keep<cl_event>& before : command->waits)
    if (before->status < 0)
      status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  if (!driver_.configuration.goesOn)
    status = std::min(status, event->queue->failed);
  if (command->resource != Resource::None) {
    const std::uint64_t number = ++device->commands;
    if (!driver_.configuration.report.empty())
      device->commandLog.push_back(event->type);
    for (const Mishap& mishap : driver_.configuration.script) {
      if (mishap.device != device->number)
        continue;
      if (mishap.kind == Mishap::Kind::FailCommand && mishap.number == number)
        status = mishap.error, command->half = true;
      if (mishap.kind == Mishap::Kind::Lose && mishap.number <= number)
        device->lost = true;
    }
    start = std::max(start, device->freeAt[static_cast<int>(command->resource)]);
  }
  if (device->lost)
    status = CL_OUT_OF_RESOURCES;
  if (status != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    event->queue->failed = std::min(event->queue->failed, status);
  const Nanoseconds end = start + nanoseconds(status < 0 ? 0 : command->seconds);
  if (command->resource != Resource::None)
    device->freeAt[static_cast<int>(command->resource)] = end;
  event->times[2] = start;
  event->times[3] = end;
  event->status = CL_RUNNING;
  std::vector<_cl_event::Callback> early;
  for (const auto& callback : event->callbacks)
    if (callback.at > CL_COMPLETE)
      early.push_back(callback);
  std::erase_if(event->callbacks, [](const auto& each) { return each.at > CL_COMPLETE; });
  if (!early.empty()) {
    event->isLocked = driver_.configuration.locksEvents;
    lock.unlock();
    for (const auto& callback : early)
      callback.function(event, callback.at, callback.data);
    lock.lock();
    event->isLocked = false;
    event->ended.notify_all();
  }
  if (!command->late)
    status = perform(lock, *command, status);
  return {command, end, status};
}

void Engine::finish(Lock& lock, const Running& running) {
  Command& command = *running.command;
  const cl_int status = command.late ? perform(lock, command, running.status) : running.status;
  clock_ = std::max(clock_.load(), running.end);
  cl_command_queue queue = command.event->queue.get();
  std::erase(queue->pending, running.command);
  if (queue->pending.empty())
    std::erase(queues_, queue);
  ++endings_;
  if (command.cleanUp)
    std::exchange(command.cleanUp, nullptr)();
  driver_.callBack(lock);
  end(lock, command.event.get(), status);
}

void Engine::end(Lock& lock, cl_event event, cl_int status) {
  const Keep<cl_event> keep(event);
  event->status = std::min(status, CL_COMPLETE);
  const auto callbacks = std::exchange(event->callbacks, {});
  event->ended.notify_all();
  ended_.notify_all();
  mayGoOn_.notify_all();
  if (callbacks.empty())
    return;
  if (driver_.configuration.callbackThread && std::this_thread::get_id() == thread_.get_id()) {
    for (const auto& callback : callbacks)
      calls_.push_back({Keep<cl_event>(event), callback});
    called_.notify_all();
    return;
  }
  lock.unlock();
  for (const auto& callback : callbacks)
    callback.function(event, event->status < 0 ? event->status : callback.at, callback.data);
  lock.lock();
}

void Engine::callLoop() {
  Lock lock(driver_.mutex);
  while (true) {
    if (calls_.empty()) {
      const std::chrono::duration<double> pause(driver_.configuration.callbackSeconds);
      called_.wait_for(lock, pause, [&] { return stopping_; });
    }
    called_.wait(lock, [&] { return stopping_ || !calls_.empty(); });
    if (calls_.empty())
      return;
    const Call call = std::move(calls_.front());
    calls_.pop_front();
    cl_event event = call.event.get();
    const cl_int status = event->status < 0 ? event->status : call.callback.at;
    lock.unlock();
    call.callback.function(event, status, call.callback.data);
    lock.lock();
  }
}

void Engine::call(Lock& lock, cl_event event, const _cl_event::Callback& callback) {
  if (event->status > callback.at) {
    event->callbacks.push_back(callback);
    return;
  }
  const Keep<cl_event> keep(event);
  const cl_int status = event->status < 0 ? event->status : callback.at;
  lock.unlock();
  callback.function(event, status, callback.data);
  lock.lock();
}

void Engine::loop() {
  Lock lock(driver_.mutex);
  bool waitedForHeld = false;
  while (!stopping_) {
    // Held commands count from when they are enqueued; see whether any is new.
    for (cl_command_queue queue : queues_)
      for (const Pointer& command : queue->pending)
        if (!command->begun && command->number == 0 && command->resource != Resource::None) {
          command->number = ++queue->device->enqueued;
          for (const Mishap& mishap : driver_.configuration.script)
            if (mishap.kind == Mishap::Kind::Hold && mishap.device == queue->device->number &&
                mishap.number == command->number)
              command->heldUntil = endings_ + mishap.others;
        }
    if (Pointer command = next(waitedForHeld)) {
      running_.push_back(begin(lock, command));
      waitedForHeld = false;
      continue;
    }
    auto first = std::ranges::min_element(running_, {}, &Running::end);
    if (first == running_.end()) {
      // Nothing else can happen: what is held back has waited long enough.
      if (next(true)) {
        waitedForHeld =
            mayGoOn_.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::timeout;
        continue;
      }
      mayGoOn_.wait(lock);
      continue;
    }
    if (const Nanoseconds time = now(); driver_.configuration.realClock && time < first->end) {
      mayGoOn_.wait_for(lock, std::chrono::nanoseconds(first->end - time));
      continue;
    }
    const Running running = *first;
    running_.erase(first);
    finish(lock, running);
  }
}

} // namespace libsplit::fake
