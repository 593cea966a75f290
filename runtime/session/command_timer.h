// What native commands take, on queues that tell no times.
//
// By their ends, which a thread of its own looks out for. Drivers' callbacks would not do: NVIDIA's
// come up to some milliseconds late, those of all commands that ended meanwhile together, and a
// pipelined program's launches would seem to take no time at all. The thread may be late as well;
// then it finds commands over that it never saw under way, which are not told apart.
//
// Worked example: three launches are enqueued at 0, 1 and 2 us on an idle queue. The first is seen
// to be over after 1000 us, the second is over when it is looked at, and the third is seen to be
// over after 3000 us. The first took 1000 us, and the others are said to have taken 1000 us each.
#pragma once

#include "runtime/core/opencl.h"
#include "runtime/core/worker.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace libsplit::runtime {

/// Thread-safe.
class CommandTimer {
public:
  using Clock = std::chrono::steady_clock;
  using AtEnd = std::function<void(cl_event, double seconds)>;

  explicit CommandTimer(const Dispatch& cl) : cl_(cl) {}
  ~CommandTimer() { stop(); }
  CommandTimer(const CommandTimer&) = delete;
  CommandTimer& operator=(const CommandTimer&) = delete;

  /// Has `atEnd` called, on the timer's thread, with what the command behind `event` took: since
  /// `begin`, when it was enqueued, or since the end of the one that was timed before it. Not if
  /// one of them fails, or if there is no thread to be had. Commands are to be flushed, and to be
  /// given in the order in which they will end.
  void time(Ref<cl_event> event, Clock::time_point begin, AtEnd atEnd);
  /// What it still waits for is forgotten, as is what comes. Waits for an `atEnd` that has begun.
  void stop();

private:
  struct Timed {
    Ref<cl_event> event;
    Clock::time_point begin;
    AtEnd atEnd;
  };
  void follow(Timed timed);
  std::optional<bool> sees(cl_event event) const;

  const Dispatch& cl_;
  std::atomic<bool> stopped_ = false;
  std::atomic<unsigned> pending_ = 0;
  // The thread's own.
  std::vector<Timed> together_; ///< over, and not told apart
  Clock::time_point lastEnd_{}; ///< of those before
  Worker worker_;
};

} // namespace libsplit::runtime
