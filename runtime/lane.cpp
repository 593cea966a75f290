#include "runtime/lane.h"

#include "runtime/log.h"

#include <algorithm>
#include <csignal>
#include <exception>

#include <pthread.h>

namespace libsplit::runtime {

namespace {
/// What the calling thread executes, if it does.
thread_local const Completion* executed = nullptr;
} // namespace

std::thread startThread(std::function<void()> body) {
  sigset_t blocked, previous;
  sigfillset(&blocked);
  // What an instruction raises, its own thread must handle: PoCL lets kernels divide by zero so,
  // and a signal that is blocked when it is raised ends the process.
  for (int raised : {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&blocked, raised);
  pthread_sigmask(SIG_SETMASK, &blocked, &previous);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  return thread;
}

Lane::Lane(const Dispatch& cl, std::string name) : cl_(cl), name_(std::move(name)) {}

Lane::~Lane() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

void Lane::issue(Instruction instruction) {
  if (instruction.immediate && runImmediately(instruction))
    return;
  std::lock_guard lock(mutex_);
  queue_.push_back(std::move(instruction));
  if (!thread_.joinable())
    thread_ = startThread([this] { loop(); });
  changed_.notify_one();
}

void Lane::beginNoCompile() {
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
  std::lock_guard lock(compilingMutex_);
  halted_ = halted_ || (noCompile_ && instruction.compiles);
  if (!halted_ && instruction.compiles) {
    std::erase_if(compiling_, [](const CompletionPtr& each) { return each->over(); });
    compiling_.push_back(instruction.done);
  }
  return !halted_;
}

bool Lane::runImmediately(Instruction& instruction) {
  {
    std::lock_guard lock(mutex_);
    if (busy_ || !queue_.empty())
      return false;
    for (const CompletionPtr& dependency : instruction.after)
      if (!dependency->precedes(instruction.queue))
        return false;
    busy_ = true;
  }
  executeAlone(instruction);
  return true;
}

bool Lane::help() {
  Instruction instruction;
  {
    std::lock_guard lock(mutex_);
    if (busy_ || queue_.empty())
      return false;
    const std::vector<CompletionPtr>& after = queue_.front().after;
    if (!std::all_of(after.begin(), after.end(),
                     [](const CompletionPtr& before) { return before->submitted(); }))
      return false;
    instruction = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
  }
  executeAlone(instruction);
  return true;
}

/// On a thread that has set `busy_`, not the lane's own.
void Lane::executeAlone(Instruction& instruction) {
  execute(instruction);
  instruction = {}; // before others may go on: what it held is theirs to release
  std::lock_guard lock(mutex_);
  busy_ = false;
  changed_.notify_one();
}

void Lane::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !busy_ && (stopping_ || !queue_.empty()); });
    if (queue_.empty())
      return;
    Instruction instruction = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    execute(instruction);
    instruction = {};
    lock.lock();
    busy_ = false;
  }
}

void Lane::execute(Instruction& instruction) {
  cl_int status = CL_SUCCESS;
  std::erase_if(instruction.after, [&](const CompletionPtr& dependency) {
    dependency->waitSubmitted();
    if (instruction.queue && !dependency->over() && dependency->precedes(instruction.queue))
      return false;
    status = std::min(status, dependency->wait());
    return true;
  });
  if (status < 0) {
    log(LogLevel::Debug, name_, ": not done, since what it depends on ended with error ", status);
    instruction.run = nullptr;
    instruction.done->finish(status, Outcome::Skipped);
    return;
  }
  // The process ends. Threads that wait for it end with it.
  if (!mayBegin(instruction))
    return;
  cl_event event = nullptr;
  TracedWork* traced = instruction.traced.get();
  if (traced)
    traced->before = hostNow();
  executed = instruction.done.get();
  try {
    status = instruction.run(&event);
  } catch (const std::exception& error) {
    log(LogLevel::Error, name_, ": ", error.what());
    status = CL_OUT_OF_HOST_MEMORY;
  }
  executed = nullptr;
  if (traced) {
    traced->after = hostNow();
    traced->overOnReturn = !event;
  }
  instruction.run = nullptr; // what it held goes before anybody sees the work done
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
  // on a driver that holds commands back.
  if (instruction.queue)
    cl_.clFlush(instruction.queue);
  instruction.done->submit(Ref<cl_event>::adopt(cl_, event), instruction.queue,
                           std::move(instruction.after));
}

} // namespace libsplit::runtime
