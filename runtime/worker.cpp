#include "runtime/worker.h"

#include "runtime/lane.h"
#include "runtime/log.h"

#include <chrono>
#include <exception>

namespace libsplit::runtime {

void Worker::post(std::function<void()> job) {
  std::lock_guard lock(mutex_);
  if (stopped_)
    return;
  jobs_.push_back(std::move(job));
  if (!started_) {
    startThread([this] { loop(); }).detach();
    started_ = true;
  }
  changed_.notify_one();
}

void Worker::stop(double seconds) {
  std::deque<std::function<void()>> dropped; // destroyed without the lock
  std::unique_lock lock(mutex_);
  stopped_ = true;
  dropped.swap(jobs_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !busy_; });
  lock.unlock();
}

void Worker::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !jobs_.empty(); });
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    try {
      job();
    } catch (const std::exception& error) {
      log(LogLevel::Error, "background work failed: ", error.what());
    }
    job = nullptr;
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

} // namespace libsplit::runtime
