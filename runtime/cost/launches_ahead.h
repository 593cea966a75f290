// How many launches of a queue are issued ahead of the one that runs. Pure.
//
// More hide more: whoever issues the next one is woken up late, or has to be the program's thread,
// which does so only once it waits. Fewer let what was measured take effect sooner. Both are times,
// so launches that are short may be many.
//
// Worked example: of launches of 50 us forty are ahead. Were there eight, both GPUs would have done
// them before a thread that looks each 2 ms issues more. Of launches of 10 ms there are eight.
#pragma once

#include <algorithm>
#include <cstddef>

namespace libsplit::runtime {

/// Of one queue. Not thread-safe.
class LaunchesAhead {
public:
  static constexpr std::size_t least = 8, most = 64;
  static constexpr double seconds = 2e-3; ///< that those ahead are to take

  /// One is over that took so many seconds of its queue.
  void took(double takes) {
    mean_ += (takes - mean_) / static_cast<double>(std::min(++known_, remembered));
    const double count = mean_ > 0 ? seconds / mean_ : most;
    launches_ = static_cast<std::size_t>(
        std::clamp(count, static_cast<double>(least), static_cast<double>(most)));
  }
  std::size_t launches() const { return launches_; }

private:
  static constexpr std::size_t remembered = 32;
  std::size_t launches_ = least;
  std::size_t known_ = 0;
  double mean_ = 0; ///< seconds, of the last ones
};

} // namespace libsplit::runtime
