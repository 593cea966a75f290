// When the calling thread of the program last waited for commands.
//
// From its first launch after a wait to the end of the next wait passes what the program has to
// wait for those launches, whoever does them and in whatever way: a round
// (runtime/cost/cycle_rounds.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace libsplit::runtime {

/// The calling thread waits for commands as long as this is there, if `waits`.
class ProgramWait {
public:
  /// `counter`: of all threads, counts it.
  explicit ProgramWait(std::atomic<std::uint64_t>& counter, bool waits = true);
  ~ProgramWait();
  ProgramWait(const ProgramWait&) = delete;
  ProgramWait& operator=(const ProgramWait&) = delete;

  struct OfThread {
    std::uint64_t waits = 0;                   ///< that are over
    std::chrono::steady_clock::time_point end; ///< of the last
  };
  /// Valid in that thread as long as it lives; to others only an address.
  static const OfThread& ofThisThread();

private:
  const bool waits_;
};

} // namespace libsplit::runtime
