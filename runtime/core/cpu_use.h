// How much of the machine's processors is left to the program.
#pragma once

#include <sched.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string_view>

namespace libsplit::runtime {

/// Processors that the process may run on.
inline int usableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// Clock ticks that the processors in `set` had nothing to do, since the machine started, by what
/// /proc/stat says. Nothing if that tells of none of them. Pure.
std::optional<double> idleTicks(std::string_view stat, const cpu_set_t& set);

/// Of the processors that the process may run on, how many nobody had a use for in the last minute,
/// about: by the load average of the machine. What it can't know counts as busy.
double idleLately();

/// Over a stretch of time that begins when it is made. Not thread-safe.
class CpuUse {
public:
  CpuUse();

  /// Processors that the process had no use for, and nobody else either, on average; 0: all were
  /// kept busy, or no time has passed. What is found is good for as long as a clock tick or two.
  double idle();

private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_ = Clock::now(), looked_ = begin_;
  double used_ = 0;                    ///< seconds of the process, at the beginning
  std::optional<double> machineIdled_; ///< seconds, then; nothing: it can't be known
  double idle_ = 0;                    ///< when it was looked at
};

} // namespace libsplit::runtime
