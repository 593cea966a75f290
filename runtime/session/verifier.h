// LIBSPLIT_VERIFY: verifier.cpp tells how.
#pragma once

#include "runtime/session/command.h"
#include "runtime/session/home_commands.h"
#include "runtime/session/launch_planner.h"
#include "runtime/session/scheduler.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace libsplit::runtime {

/// Under the session's lock.
class Verifier {
public:
  Verifier(Shared& shared, Scheduler& scheduler, TrackedBuffers& tracked, NativeWork& nativeWork,
           Issuer& issuer, HomeCommands& homeCommands, LaunchPlanner& planner,
           LaunchObserver& observer)
      : shared_(shared), cl_(shared.cl), machine_(shared.machine), scheduler_(scheduler),
        tracked_(tracked), nativeWork_(nativeWork), issuer_(issuer), homeCommands_(homeCommands),
        planner_(planner), observer_(observer) {}

  /// Submits a launch, and what compares its result with the unsplit one.
  void submit(const Command& command, const std::shared_ptr<Launch>& launch);

private:
  void begin(Task& task, const std::shared_ptr<Verification>& verification);
  void end(const Task& task, const Verification& verification);
  void readAll(Task& task, const Verification& verification,
               std::vector<std::vector<std::byte>>& contents);
  void restore(Task& task, Verification& verification);
  void compare(const Verification& verification);

  Shared& shared_;
  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Scheduler& scheduler_;
  TrackedBuffers& tracked_;
  NativeWork& nativeWork_;
  Issuer& issuer_;
  HomeCommands& homeCommands_;
  LaunchPlanner& planner_;
  LaunchObserver& observer_;
  std::shared_ptr<Verification> open_; ///< while it goes on only its own tasks are planned
};

} // namespace libsplit::runtime
