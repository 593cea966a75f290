// Lets buffers go of which nobody needs to keep book any more.
//
// A launch that is split or timed engages its buffers: their bytes are kept book of from then on,
// and while any buffer is engaged all calls of the program are looked at under the lock. A program
// whose launches turn out not to gain, or that has left the phase in which they did, would pay that
// for the rest of its life, and copies on other devices would keep their memory. So once launches
// have gone to the driver as they came for a while, buffers of which the program's device has all
// bytes become the program's alone again, as if they had never been engaged. Once all have, the
// session is quiet (shared.h).
//
// Copies may be wanted again. To bring back what they all hold takes time that is known, and they
// are kept until that is a small part of what has passed since they were of use.
//
// Worked example: a solver is split for a second, with 2 GB on another GPU; then come short kernels
// that are not. At 40 GB/s it takes 50 ms to bring those back: they stay for 5 s. The buffers of a
// program of which a launch was timed at home, and no more, go 64 launches later, or after two
// rounds of the cycle that its launches make.
#pragma once

#include "runtime/cost/splits_of_late.h"
#include "runtime/session/chunked_launch.h"
#include "runtime/session/mover.h"
#include "runtime/session/pooled_launches.h"
#include "runtime/session/scheduler.h"
#include "runtime/session/tracked_buffers.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace libsplit::runtime {

/// Under the session's lock.
class IdleBuffers {
public:
  IdleBuffers(Shared& shared, Scheduler& scheduler, TrackedBuffers& tracked, Mover& mover,
              const ChunkedLaunches& chunks, const PooledLaunches& pooledLaunches)
      : shared_(shared), machine_(shared.machine), scheduler_(scheduler), tracked_(tracked),
        mover_(mover), chunks_(chunks), pooledLaunches_(pooledLaunches) {}

  /// The program launches something, of which nothing is decided yet. Lets go of what may go, if it
  /// is time to; may give up the lock meanwhile.
  void look(Lock& lock) noexcept;
  /// It belongs to a cycle of so many; in each round of that buffers may be of use once.
  void isOfCycle(std::uint64_t launches) noexcept {
    round_ = std::max(round_, SplitsOfLate::roundOf(launches));
  }

private:
  using Clock = std::chrono::steady_clock;
  bool letGo(Lock& lock);
  bool isAnythingUnderWay();

  Shared& shared_;
  const std::unique_ptr<Machine>& machine_;
  Scheduler& scheduler_;
  TrackedBuffers& tracked_;
  Mover& mover_;
  const ChunkedLaunches& chunks_;
  const PooledLaunches& pooledLaunches_;
  std::uint64_t launches_ = 0;  ///< so far
  std::uint64_t plannings_ = 0; ///< tasks that were planned when the last launch came
  /// Launches of two rounds of the longest cycle since then.
  std::uint64_t round_ = SplitsOfLate::usualRound;
  Clock::time_point lastOfUse_; ///< when that had just changed
  Clock::time_point notBefore_; ///< copies may be wanted again till then
  std::uint64_t due_ = 0;       ///< launches at which to look
  std::uint64_t pause_ = 0;     ///< launches between two looks
  unsigned obstacles_ = 0;      ///< launches in a row at which something was in the way
};

} // namespace libsplit::runtime
