#include "runtime/core/worker.h"

#include "runtime/core/forks.h"
#include "runtime/core/log.h"
#include "runtime/core/thread.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include <sys/resource.h>

namespace libsplit::runtime {

struct Worker::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool started = false;
  bool busy = false;
  unsigned holds = 0;
  bool stopped = false;
};

Worker::Worker() : state_(std::make_shared<State>()) {}

Worker::~Worker() {
  stop(0);
}

/// With its lock.
bool Worker::start(const std::shared_ptr<State>& state) {
  state->started = state->started || startDetached([state] { loop(*state); });
  return state->started;
}

bool Worker::post(std::function<void()> job) {
  std::lock_guard lock(state_->mutex);
  if (state_->stopped || !start(state_))
    return false;
  try {
    state_->jobs.push_back(std::move(job));
  } catch (const std::bad_alloc&) {
    return false;
  }
  state_->changed.notify_all();
  return true;
}

std::shared_ptr<void> Worker::hold() {
  {
    std::lock_guard lock(state_->mutex);
    if (!start(state_))
      return nullptr;
    ++state_->holds;
  }
  try {
    return {state_.get(), [state = state_](void*) {
              std::lock_guard last(state->mutex);
              --state->holds;
            }};
  } catch (const std::bad_alloc&) { // it is not held any more then
    return nullptr;
  }
}

void Worker::stop(double seconds) {
  std::deque<std::function<void()>> dropped; // destroyed without the lock
  std::unique_lock lock(state_->mutex);
  state_->stopped = true;
  dropped.swap(state_->jobs);
  state_->changed.notify_all();
  state_->changed.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return !state_->busy; });
  lock.unlock();
}

void runBelow(int steps, const std::function<void()>& work) {
  std::exception_ptr failure;
  std::thread below;
  auto lowered = [&] {
    // Of the thread alone; it may lower itself, but not come back.
    ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + steps);
    const Unforked unforked;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  try {
    below = startThread(lowered);
  } catch (const std::exception&) {
    return work(); // there is none to be had: better so than not at all
  }
  {
    const Forkable waiting;
    below.join();
  }
  if (failure)
    std::rethrow_exception(failure);
}

void Worker::loop(State& state) {
  std::unique_lock lock(state.mutex);
  while (true) {
    state.changed.wait_for(lock, idleTime, [&] { return state.stopped || !state.jobs.empty(); });
    if (state.jobs.empty()) {
      if (state.holds > 0 && !state.stopped)
        continue;
      state.started = false;
      return;
    }
    std::function<void()> job = std::move(state.jobs.front());
    state.jobs.pop_front();
    state.busy = true;
    lock.unlock();
    {
      const Unforked work;
      try {
        job();
      } catch (const std::exception& error) {
        log(LogLevel::Error, "background work failed: ", error.what());
      }
      job = nullptr;
    }
    lock.lock();
    state.busy = false;
    state.changed.notify_all();
  }
}

} // namespace libsplit::runtime
