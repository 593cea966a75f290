// Devices that join late: rehearse.cpp tells how.
#pragma once

#include "runtime/session/ahead_compiler.h"
#include "runtime/session/executor.h"
#include "runtime/session/launch.h"
#include "runtime/session/preparer.h"
#include "runtime/session/scheduler.h"

#include <cstdint>
#include <memory>

namespace libsplit::runtime {

/// Under the session's lock.
class Rehearsals {
public:
  Rehearsals(Shared& shared, Preparer& preparer, Provider& provider, Scheduler& scheduler,
             Issuer& issuer, Mover& mover, Executor& executor, AheadCompiler& ahead)
      : shared_(shared), options_(shared.options), machine_(shared.machine),
        knownSpeeds_(shared.knownSpeeds), preparer_(preparer), provider_(provider),
        scheduler_(scheduler), issuer_(issuer), mover_(mover), executor_(executor), ahead_(ahead) {}

  /// Whether the device can take part in the launch by now. What an earlier run knew to be worth it
  /// is built as soon as it is missed.
  bool canTakePart(std::size_t device, const Launch& launch, LaunchHistory& history);
  /// Whoever is known well enough from other launches or earlier runs need not rehearse.
  void settle(const Launch& launch, LaunchHistory& history,
              const ShareController::Prior& prior) const;
  /// Has latecomers rehearse beside the launch, which `task` is about to issue: on what it starts
  /// from, since nobody knows what the kernel would do with its own results, a second time.
  void rehearse(Task& task, const std::shared_ptr<Launch>& launch);

private:
  void rehearseOn(std::size_t device, const GroupBox& box, Task& task, Launch& launch,
                  LaunchHistory& history);
  void rehearsed(std::size_t device, std::uint64_t groups, KernelCode& code, const LaunchKey& key,
                 const NDRange& range, const Completion& kernel);

  Shared& shared_;
  const Options& options_;
  const std::unique_ptr<Machine>& machine_;
  const std::unique_ptr<KnownSpeeds>& knownSpeeds_;
  Preparer& preparer_;
  Provider& provider_;
  Scheduler& scheduler_;
  Issuer& issuer_;
  Mover& mover_;
  Executor& executor_;
  AheadCompiler& ahead_;
};

} // namespace libsplit::runtime
