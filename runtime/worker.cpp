#include "runtime/worker.h"

#include "runtime/lane.h"
#include "runtime/log.h"

#include <exception>

namespace libsplit::runtime {

void Worker::post(std::function<void()> job) {
  std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (!started_) {
    startThread([this] { loop(); }).detach();
    started_ = true;
  }
  changed_.notify_one();
}

void Worker::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !jobs_.empty(); });
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    try {
      job();
    } catch (const std::exception& error) {
      log(LogLevel::Error, "background work failed: ", error.what());
    }
    job = nullptr;
    lock.lock();
  }
}

} // namespace libsplit::runtime
