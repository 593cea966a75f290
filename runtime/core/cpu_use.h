// How much of the machine's processors the program uses.
#pragma once

#include <sched.h>

#include <chrono>
#include <ctime>

namespace libsplit::runtime {

/// Processors that the process may run on.
inline int usableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// Over a stretch of time that begins when it is made.
class CpuUse {
public:
  /// Processors that the process had no use for, on average; 0: it kept all of them busy, or no
  /// time has passed.
  double idle() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    if (!(passed.count() > 0))
      return 0;
    return usableProcessors() - (processSeconds() - used_) / passed.count();
  }

private:
  static double processSeconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double used_ = processSeconds();
};

} // namespace libsplit::runtime
