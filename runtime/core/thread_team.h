// Threads that do one piece of work together with the thread that has it.
#pragma once

#include <functional>
#include <memory>

namespace libsplit::runtime {

class ThreadTeam {
public:
  /// `size`: of the team with the calling thread, at least 1.
  explicit ThreadTeam(unsigned size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  unsigned size() const { return size_; }
  /// Calls `work(i)` for different i < `most`, on as many threads as the team has to spare, and
  /// returns when all calls have. `work(0)` is the calling thread's; whether others come is not
  /// sure, so each has to take whatever is left of what there is to do. `work` must not throw. Any
  /// thread, several at once.
  void run(unsigned most, const std::function<void(unsigned)>& work);

private:
  struct State;
  static void loop(State& state);

  const unsigned size_;
  std::shared_ptr<State> state_; ///< the threads' too
};

} // namespace libsplit::runtime
