#include "runtime/device/lane.h"

#include "runtime/core/forks.h"
#include "runtime/core/log.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

namespace libsplit::runtime {

namespace {
/// What the calling thread executes, if it does. Static: see callback_scope.cpp.
[[gnu::tls_model("initial-exec")]] thread_local const Completion* executed = nullptr;

/// Waits for what an instruction depends on, as far as neither its queue's order nor its commands
/// do: those are to wait for what `awaited` gets. The worst status.
cl_int awaitBefore(Instruction& instruction, std::vector<Ref<cl_event>>& awaited) {
  cl_int status = CL_SUCCESS;
  std::ranges::sort(instruction.after);
  const auto twins = std::ranges::unique(instruction.after);
  instruction.after.erase(twins.begin(), twins.end());
  std::erase_if(instruction.after, [&](const CompletionPtr& dependency) {
    dependency->waitSubmitted();
    if (instruction.queue && !dependency->over() && dependency->precedes(instruction.queue))
      return false;
    if (Ref<cl_event> event = dependency->eventIn(instruction.context)) {
      awaited.push_back(std::move(event));
      return false;
    }
    status = std::min(status, dependency->wait());
    return true;
  });
  return status;
}

} // namespace

Lane::Lane(const Dispatch& cl, std::string name) : cl_(cl), name_(std::move(name)) {}

Lane::~Lane() {
  end();
}

void Lane::end() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

void Lane::issue(Instruction&& instruction) {
  if (instruction.immediate && runImmediately(instruction))
    return;
  {
    std::unique_lock lock(mutex_);
    try {
      if (startLocked()) {
        if (instruction.isPlaced && !busy_ && queue_.empty())
          placing_.here();
        queue_.push_back(std::move(instruction));
        isFilled_ = true;
        lock.unlock(); // which it would wait for
        changed_.notify_one();
        return;
      }
    } catch (const std::bad_alloc&) { // it is still whole
    }
  }
  refuse(instruction);
}

void Lane::refuse(Instruction& instruction) {
  log(LogLevel::Info, name_, ": there is no thread or no memory to be had for a command");
  instruction.letGo();
  instruction.done->finish(CL_OUT_OF_HOST_MEMORY);
}

bool Lane::start() {
  std::lock_guard lock(mutex_);
  return startLocked();
}

bool Lane::startLocked() {
  if (!thread_.joinable())
    try {
      thread_ = startThread([this] { loop(); });
    } catch (const std::exception&) {
      return false;
    }
  return true;
}

void Lane::suspendCompiling() {
  std::lock_guard lock(compilingMutex_);
  noCompile_ = true;
}

bool Lane::isCompiling() {
  std::vector<CompletionPtr> begun;
  {
    std::lock_guard lock(compilingMutex_);
    begun = compiling_;
  }
  return std::any_of(begun.begin(), begun.end(), [](const CompletionPtr& each) {
    return each.get() != executed && !each->poll();
  });
}

bool Lane::mayBegin(const Instruction& instruction) {
  if (!instruction.compiles)
    return true;
  std::lock_guard lock(compilingMutex_);
  if (noCompile_)
    return false;
  std::erase_if(compiling_, [](const CompletionPtr& each) { return each->over(); });
  compiling_.push_back(instruction.done);
  return true;
}

/// By whoever has set `busy_`, for what may not begin: it is the next one again.
void Lane::hold(Instruction& instruction) {
  {
    std::lock_guard lock(mutex_);
    try {
      if (startLocked()) {
        queue_.push_front(std::move(instruction));
        isFilled_ = true;
        std::lock_guard compiling(compilingMutex_);
        isHeld_ = noCompile_; // else it may begin by now
        return;
      }
    } catch (const std::bad_alloc&) { // it is still whole
    }
  }
  refuse(instruction);
}

void Lane::resumeCompiling() {
  {
    std::lock_guard lock(compilingMutex_);
    if (!std::exchange(noCompile_, false))
      return;
  }
  std::lock_guard lock(mutex_);
  isHeld_ = false;
  changed_.notify_all();
}

/// Whether it is for somebody to wait, on the host, before the instruction can be enqueued.
bool Lane::mustWait(const Instruction& instruction) {
  return std::ranges::any_of(instruction.after, [&](const CompletionPtr& dependency) {
    return !dependency->precedes(instruction.queue) && !dependency->eventIn(instruction.context);
  });
}

bool Lane::runImmediately(Instruction& instruction) {
  {
    std::lock_guard lock(mutex_);
    if (busy_ || !queue_.empty() || mustWait(instruction))
      return false;
    busy_ = true;
  }
  executeAlone(instruction);
  return true;
}

/// To be executed, by who calls. The lock is held.
Instruction Lane::takeFirst() {
  Instruction first = std::move(queue_.front());
  queue_.pop_front();
  isFilled_ = !queue_.empty();
  busy_ = true;
  return first;
}

/// Enqueues what is immediate and has nothing to wait for. Who fills the queue has its thread look.
void Lane::advance() {
  while (isFilled_) {
    Instruction instruction;
    {
      std::lock_guard lock(mutex_);
      if (busy_ || isHeld_ || queue_.empty() || !queue_.front().immediate ||
          mustWait(queue_.front()))
        return;
      instruction = takeFirst();
    }
    executeAlone(instruction);
  }
}

bool Lane::help() {
  Instruction instruction;
  {
    std::lock_guard lock(mutex_);
    if (busy_ || isHeld_ || queue_.empty())
      return false;
    if (queue_.front().compiles && !queue_.front().immediate)
      return false; // who waits need not wait for that
    const std::vector<CompletionPtr>& after = queue_.front().after;
    if (!std::all_of(after.begin(), after.end(),
                     [](const CompletionPtr& before) { return before->submitted(); }))
      return false;
    instruction = takeFirst();
  }
  executeAlone(instruction);
  return true;
}

/// On a thread that has set `busy_`, not the lane's own.
void Lane::executeAlone(Instruction& instruction) {
  execute(instruction);
  instruction.forget(); // before others may go on: what it held is theirs to release
  {
    std::lock_guard lock(mutex_);
    busy_ = false;
    if (!queue_.empty() ||
        stopping_) // else its thread has nothing to do, and to wake it takes long
      changed_.notify_one();
  }
  for (Lane* follower : followers_)
    follower->advance();
}

void Lane::loop() {
  std::unique_lock lock(mutex_);
  placing_.begin();
  while (true) {
    changed_.wait(lock, [&] {
      placing_.lift(); // woken or not, this thread runs
      return !busy_ && (stopping_ || (!isHeld_ && !queue_.empty()));
    });
    if (isHeld_ || queue_.empty())
      return;
    // While it has to wait for others to be enqueued anybody may run it.
    const std::vector<CompletionPtr>& after = queue_.front().after;
    const auto pending = std::ranges::find_if(
        after, [](const CompletionPtr& before) { return !before->submitted(); });
    if (pending != after.end()) {
      const CompletionPtr before = *pending;
      lock.unlock();
      before->waitSubmitted();
      lock.lock();
      continue;
    }
    Instruction instruction = takeFirst();
    lock.unlock();
    {
      const Unforked work;
      execute(instruction);
      instruction.forget();
    }
    lock.lock();
    busy_ = false;
    if (!followers_.empty()) {
      lock.unlock();
      {
        const Unforked work;
        for (Lane* follower : followers_)
          follower->advance();
      }
      lock.lock();
    }
  }
}

void Lane::execute(Instruction& instruction) {
  cl_int status = CL_SUCCESS;
  std::vector<Ref<cl_event>> awaited;
  std::vector<cl_event> waits;
  try {
    status = awaitBefore(instruction, awaited);
    for (const Ref<cl_event>& each : awaited)
      waits.push_back(each.get());
    if (status >= 0 && !mayBegin(instruction))
      return hold(instruction);
  } catch (const std::bad_alloc&) {
    return refuse(instruction);
  }
  if (status < 0) {
    log(LogLevel::Debug, name_, ": not done, since what it depends on ended with error ", status);
    instruction.letGo();
    instruction.done->finish(status, Outcome::Skipped);
    return;
  }
  cl_event event = nullptr;
  TracedWork* traced = instruction.traced.get();
  if (traced)
    traced->before = hostNow();
  executed = instruction.done.get();
  instruction.done->begun = std::chrono::steady_clock::now();
  try {
    status = instruction.run({waits}, *instruction.done, &event);
  } catch (const std::exception& error) {
    log(LogLevel::Error, name_, ": ", error.what());
    status = CL_OUT_OF_HOST_MEMORY;
  }
  executed = nullptr;
  if (traced) {
    traced->after = hostNow();
    traced->overOnReturn = !event;
  }
  instruction.letGo(); // what it held goes before anybody sees the work done
  if (status != CL_SUCCESS || !event) {
    if (status != CL_SUCCESS)
      log(LogLevel::Debug, name_, ": a command was refused with error ", status);
    if (event)
      cl_.clReleaseEvent(event);
    if (status == CL_SUCCESS)
      instruction.done->finish(status);
    else
      instruction.done->abandon(status);
    return;
  }
  // Flush before anybody can see the event: who waits for it from another thread would wait forever
  // on a driver that holds commands back. One that can't even do that may never begin.
  if (instruction.queue && cl_.clFlush(instruction.queue) != CL_SUCCESS &&
      (status = cl_.clFinish(instruction.queue)) != CL_SUCCESS) {
    cl_.clReleaseEvent(event);
    instruction.done->finish(status, Outcome::Failed);
    return;
  }
  instruction.done->submit(Ref<cl_event>::adopt(cl_, event), instruction.queue, instruction.context,
                           std::move(instruction.after));
}

} // namespace libsplit::runtime
