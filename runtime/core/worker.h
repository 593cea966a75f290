// A thread that runs jobs one after another. There is one only while there are jobs, and a moment
// longer: it would keep a process alive whose own threads have all ended.
#pragma once

#include <functional>
#include <memory>

namespace libsplit::runtime {

class Worker {
public:
  Worker();
  /// Stops without waiting: a job that has begun goes on.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs `job` on the worker's thread, after all earlier ones. Any thread; returns at once.
  /// Exceptions of a job are logged and dropped. False: a thread is needed and the system has none
  /// to give, or the worker was stopped; the job is gone.
  [[nodiscard]] bool post(std::function<void()> job);
  /// As long as the answer lives there is a thread for what is posted, until the worker is stopped.
  /// Null: there is none to be had.
  [[nodiscard]] std::shared_ptr<void> hold();
  /// Drops the jobs that have not begun, and waits for the one that has, but not longer than
  /// `seconds`.
  void stop(double seconds);

private:
  struct State;
  static bool start(const std::shared_ptr<State>& state);
  static void loop(State& state);

  std::shared_ptr<State> state_; ///< the thread's too, which may outlive this
};

/// Runs `work` on a thread of its own whose nice value is greater by `steps` than the caller's, and
/// waits for it. Exceptions come through.
void runBelow(int steps, const std::function<void()>& work);

} // namespace libsplit::runtime
