// What a helper fails to do is done by the program's own device: recovery.cpp tells how.
#pragma once

#include "runtime/session/chunked_launch.h"
#include "runtime/session/executor.h"
#include "runtime/session/home_commands.h"
#include "runtime/session/launch_planner.h"
#include "runtime/session/merger.h"
#include "runtime/session/pooled_launches.h"
#include "runtime/session/scheduler.h"
#include "runtime/session/tracked_buffers.h"

#include <memory>
#include <vector>

namespace libsplit::runtime {

/// Under the session's lock.
class Recovery final : public FailureHandler {
public:
  Recovery(Shared& shared, Scheduler& scheduler, TrackedBuffers& tracked, Issuer& issuer,
           Mover& mover, Merger& merger, Executor& executor, HomeCommands& homeCommands,
           ChunkedLaunches& chunks, PooledLaunches& pooled, LaunchPlanner& planner)
      : shared_(shared), cl_(shared.cl), machine_(shared.machine), scheduler_(scheduler),
        tracked_(tracked), issuer_(issuer), mover_(mover), merger_(merger), executor_(executor),
        homeCommands_(homeCommands), chunks_(chunks), pooled_(pooled), planner_(planner) {}

  bool recover(Lock& lock, const Task& failed) override;
  void loseOutputs(const Task& task) override;

private:
  void putRight(Lock& lock);
  bool redoAll(Lock& lock);
  void drain(Lock& lock) const;
  void leaveOutFailed(const std::vector<std::shared_ptr<Task>>& tasks);
  void tryRedo(Task& task);
  void redo(Task& task);
  void redoAtHome(Task& task, const std::shared_ptr<Launch>& launch);
  void redoPieces(Task& task, Launch& launch);

  Shared& shared_;
  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Scheduler& scheduler_;
  TrackedBuffers& tracked_;
  Issuer& issuer_;
  Mover& mover_;
  Merger& merger_;
  Executor& executor_;
  HomeCommands& homeCommands_;
  ChunkedLaunches& chunks_;
  PooledLaunches& pooled_;
  LaunchPlanner& planner_;
};

} // namespace libsplit::runtime
