// Where a thread is woken that has a processor's worth of work to do.
//
// Linux wakes a thread on a processor that is idle, or else mostly where it last ran. So on a
// machine whose processors all belong to devices, this happens: a launch wakes the thread of one
// device, which takes the only idle processor, and then the thread of another, which last ran
// there and now waits for its end; and the processor that the launching thread leaves a moment
// later, since it waits for both, stays idle. What is idle for less than half a millisecond at a
// time fetches nothing from others, so a hundred launches follow each other like that, each twice
// as long as need be. No wake-up of the system's says "on my processor, which I am about to leave".
// Here the waker says it: for the wake-up the thread may run nowhere else, and it lifts that as
// soon as it runs.
//
// Worked example: two devices on two processors, launches of 0.33 ms a piece. The program's thread
// runs on 0, the first device's thread is woken on 1, the second's last ran on 1 as well. Placed,
// it runs on 0 as soon as the program's thread sleeps, if not before; unplaced, on 1 after 0.33 ms.
#pragma once

#include <sched.h>
#include <sys/types.h>

namespace libsplit::runtime {

/// Of one thread. Calls come one at a time.
class Placing {
public:
  /// By the thread itself, before anybody wakes it.
  void begin();
  /// By who is about to wake it and then to wait: it runs next on the caller's processor, if it may
  /// run there at all.
  void here();
  /// By the thread itself, when it runs: it may run again wherever it might before.
  void lift();

private:
  pid_t thread_ = 0; ///< 0: not begun
  bool isPlaced_ = false;
  cpu_set_t before_{}; ///< where it may run
};

} // namespace libsplit::runtime
