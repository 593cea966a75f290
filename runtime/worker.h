// A thread that runs jobs one after another; started with the first job.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace libsplit::runtime {

class Worker {
public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs `job` on the worker's thread, after all earlier ones. Any thread; returns at once.
  /// Exceptions of a job are logged and dropped.
  void post(std::function<void()> job);
  /// Drops the jobs that have not begun, and waits for the one that has, but not longer than
  /// `seconds`.
  void stop(double seconds);

private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool started_ = false;
  bool busy_ = false;
  bool stopped_ = false;
};

} // namespace libsplit::runtime
