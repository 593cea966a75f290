// clEnqueueNDRangeKernel: launcher.cpp tells what becomes of it.
#pragma once

#include "runtime/core/spares.h"
#include "runtime/device/pump.h"
#include "runtime/session/command.h"
#include "runtime/session/command_timer.h"
#include "runtime/session/commands.h"
#include "runtime/session/idle_buffers.h"
#include "runtime/session/kernels.h"
#include "runtime/session/launch_planner.h"
#include "runtime/session/preparer.h"
#include "runtime/session/samplers.h"
#include "runtime/session/scheduler.h"
#include "runtime/session/verifier.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace libsplit::runtime {

/// Any thread, without the session's lock.
class Launcher {
public:
  Launcher(Shared& shared, Scheduler& scheduler, Pumps& pumps, Kernels& kernels,
           const Samplers& samplers, Preparer& preparer, Commands& commands, NativeWork& nativeWork,
           LaunchPlanner& planner, LaunchObserver& observer, Verifier& verifier,
           const GroupShapes& shapes, IdleBuffers& idleBuffers)
      : shared_(shared), cl_(shared.cl), options_(shared.options), machine_(shared.machine),
        scheduler_(scheduler), pumps_(pumps), kernels_(kernels), samplers_(samplers),
        preparer_(preparer), commands_(commands), nativeWork_(nativeWork), planner_(planner),
        observer_(observer), verifier_(verifier), shapes_(shapes), idleBuffers_(idleBuffers),
        timer_(shared.cl) {}

  cl_int launch(const Command& command, const LaunchArguments& arguments);
  /// Ends what it does beside the program.
  void stop() { timer_.stop(); }

private:
  class Call;

  std::string whyNotSplittable(Lock& lock, const Stream& stream, const Kernel& kernel,
                               const LaunchArguments& arguments, bool& isUnprepared);
  void countUnsplit(const Kernel& kernel, const LaunchArguments& arguments, std::string_view why);
  void explainOnce(Lock& lock, cl_command_queue queue, const Kernel& kernel,
                   const LaunchArguments& arguments);
  bool letUp(Lock& lock, const Command& command, const std::shared_ptr<Stream>& stream,
             const Launch* undecided);
  bool isFilledInVain(const Stream& stream, std::size_t pending, const Launch* undecided) const;
  void submit(const std::shared_ptr<Stream>& stream, const Command& command,
              const std::shared_ptr<Launch>& launch);

  Shared& shared_;
  const Dispatch& cl_;
  const Options& options_;
  const std::unique_ptr<Machine>& machine_;
  Scheduler& scheduler_;
  Pumps& pumps_;
  Kernels& kernels_;
  const Samplers& samplers_;
  Preparer& preparer_;
  Commands& commands_;
  NativeWork& nativeWork_;
  LaunchPlanner& planner_;
  LaunchObserver& observer_;
  Verifier& verifier_;
  const GroupShapes& shapes_;
  IdleBuffers& idleBuffers_;
  std::set<std::shared_ptr<KernelStats>> explained_; ///< kernels that LIBSPLIT_EXPLAIN told of
  CommandTimer timer_;
  Spares<Launch> launches_;
};

} // namespace libsplit::runtime
