// Launches that are given out piece by piece, to devices that ask for more as they finish:
// chunked_launch.cpp tells when and why.
#pragma once

#include "runtime/session/executor.h"
#include "runtime/session/launch.h"
#include "runtime/session/scheduler.h"
#include "runtime/session/tracked_buffers.h"

#include "solver/chunk_plan.h"

#include <memory>
#include <string>
#include <vector>

namespace libsplit::runtime {

struct ChunkedLaunch; // chunked_launch.cpp

/// One at a time. Under the session's lock.
class ChunkedLaunches {
public:
  /// What takes less at home stays there.
  static constexpr double leastSeconds = 8e-3;

  ChunkedLaunches(Shared& shared, Scheduler& scheduler, TrackedBuffers& tracked, Provider& provider,
                  Issuer& issuer, Mover& mover, Executor& executor)
      : shared_(shared), cl_(shared.cl), options_(shared.options), machine_(shared.machine),
        scheduler_(scheduler), tracked_(tracked), provider_(provider), issuer_(issuer),
        mover_(mover), executor_(executor) {}

  /// Whether the launch has enough work-groups for chunks at all, and none is given out now.
  bool canBegin(const Launch& launch) const;
  /// By device: the shares by which the whole launch is to be planned first. That plan tells the
  /// dimension.
  std::vector<double> sharesOfAll(const Launch& launch, const ShareController& controller) const;
  /// Begins to give the launch out. Why not, if it can't be; or the task waits until that is known.
  std::string begin(Task& task, const std::shared_ptr<Launch>& launch,
                    const std::shared_ptr<const LaunchPlan>& whole);
  bool isUnderWay() const { return open_ != nullptr; }
  /// Waits, without the lock, until none is being given out.
  void awaitNone(Lock& lock) const;

private:
  void feed(const std::shared_ptr<ChunkedLaunch>& chunked, std::size_t member);
  std::string reserveNow(Lock& lock, ChunkedLaunch& chunked, std::size_t device);
  bool give(Lock& lock, ChunkedLaunch& chunked, std::size_t member);
  LaunchIssued issue(ChunkedLaunch& chunked, std::size_t device, solver::GroupRange range);
  void leave(ChunkedLaunch& chunked, solver::GroupRange range);
  void close(ChunkedLaunch& chunked);

  Shared& shared_;
  const Dispatch& cl_;
  const Options& options_;
  const std::unique_ptr<Machine>& machine_;
  Scheduler& scheduler_;
  TrackedBuffers& tracked_;
  Provider& provider_;
  Issuer& issuer_;
  Mover& mover_;
  Executor& executor_;
  std::vector<std::unique_ptr<Worker>> feeders_; ///< by device: who asks for chunks on its behalf
  std::shared_ptr<ChunkedLaunch> open_;          ///< while it is being given out nobody plans
};

} // namespace libsplit::runtime
