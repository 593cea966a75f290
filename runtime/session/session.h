// The one session of the process: what libsplit knows about the application's objects, and what it
// does when the application calls.
//
// Every member may be called from any thread. One lock guards all tables; drivers are called under
// it only where they return at once. Calls that libsplit has nothing to do with go straight to the
// driver, in the caller's thread, with the caller's arguments.
#pragma once

#include "runtime/core/options.h"
#include "runtime/device/pump.h"
#include "runtime/session/chunked_launch.h"
#include "runtime/session/commands.h"
#include "runtime/session/contents_fetcher.h"
#include "runtime/session/contexts.h"
#include "runtime/session/executor.h"
#include "runtime/session/home_commands.h"
#include "runtime/session/idle_buffers.h"
#include "runtime/session/kernels.h"
#include "runtime/session/launch_observer.h"
#include "runtime/session/launch_planner.h"
#include "runtime/session/launcher.h"
#include "runtime/session/memory_table.h"
#include "runtime/session/native_work.h"
#include "runtime/session/pool.h"
#include "runtime/session/pooled_commands.h"
#include "runtime/session/pooled_launches.h"
#include "runtime/session/preparer.h"
#include "runtime/session/programs.h"
#include "runtime/session/recovery.h"
#include "runtime/session/reference_counts.h"
#include "runtime/session/rehearsals.h"
#include "runtime/session/samplers.h"
#include "runtime/session/scheduler.h"
#include "runtime/session/verifier.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libsplit::runtime {

class Session {
public:
  Session(const Dispatch& cl, Options options);
  /// One that has stepped aside: every call passes.
  explicit Session(const Dispatch& cl);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// False once libsplit has stepped aside for good: everything is native then.
  bool active() const { return shared_.isActive(); }
  /// Steps aside for good: finishes what is pending and brings all data home. `why` is for the log.
  void stepAside(const std::string& why);
  /// Nothing is pending: what the program calls goes to the driver as it is (Shared::isQuiet).
  bool isQuiet() const { return shared_.isQuiet(); }
  /// Before the process ends: ends background analyses and builds, lets work end that is under way,
  /// writes the statistics. From then on nothing is split and nothing is compiled. Called while
  /// drivers are still whole, from any thread; later calls do nothing.
  void finish();

  // Objects, as the program makes and drops them. Handles are the driver's.
  Contexts& contexts() { return contexts_; }
  /// Whether that was the last of the program's references.
  bool contextReleased(cl_context context);
  Scheduler& queues() { return scheduler_; }
  void queueReleased(cl_command_queue queue);
  MemoryTable& memory() { return memory_; }
  Samplers& samplers() { return samplers_; } ///< they live as long as launches that use them
  Programs& programs() { return programs_; }
  Kernels& kernels() { return kernels_; }
  EventTable& events() { return scheduler_.events(); }
  /// As programs may ask for them, also after libsplit has stepped aside.
  ReferenceCounts& referenceCounts() { return referenceCounts_; }
  /// About to be.
  void userEventCreated() { scheduler_.userEventCreated(); }
  /// The program set it, or there is none after all.
  void userEventSet() { --shared_.unsetUserEvents; }
  void callbackGiven() { shared_.callbacks = true; }
  /// The driver had no memory for what the program makes there: waits for what ends by itself, and
  /// gives up what libsplit has on the program's own device, unless what is pending needs it.
  /// Whether the program may try again, for the `attempt`-th time, from 0 on. In a callback, where
  /// it may not wait for anything, that is now and then for a tenth of a second.
  bool makeRoom(cl_context context, unsigned attempt);
  /// The driver's own memory, or what it was given as such: no pump is needed there.
  void driverMemory(const void* address, std::size_t size) { pumps_.excludes(address, size); }

  /// The program waits for commands as long as the answer is there.
  BlockingCall waits(bool isBlocking = true) { return {shared_, scheduler_, isBlocking}; }
  struct Finished {
    /// What the driver does not know: CL_OUT_OF_RESOURCES if a command of the queue failed since
    /// the last time; of events, that one of them did.
    cl_int status = CL_SUCCESS;
    bool isAll = false; ///< the driver has nothing to wait for either, and need not be asked
  };
  /// Waits for the tasks behind those of `list` that are libsplit's own events.
  Finished awaitEvents(cl_uint count, const cl_event* list);
  /// The program asks what became of it, and perhaps does nothing else until it is over.
  void asksFor(cl_event event);
  /// Waits until nothing of libsplit's is pending on the queue.
  Finished finishQueue(cl_command_queue queue);

  /// The memories of all devices as one.
  Pool& pool() { return pool_; }

  // Commands.
  Commands& commands() { return commands_; }
  PooledCommands& pooledCommands() { return pooledCommands_; }
  cl_int launch(const Command& command, const LaunchArguments& arguments) {
    return launcher_.launch(command, arguments);
  }
  /// Nothing: none of the kernel's arguments is pooled.
  std::optional<cl_int> launchPooled(const Command& command, const LaunchArguments& arguments) {
    return pooledLaunches_.launch(command, arguments);
  }

private:
  bool bringHome(Lock& lock, std::span<const std::shared_ptr<MemoryObject>> objects,
                 std::optional<std::chrono::milliseconds> patience = {});
  bool isIdleAtHome(const Buffer& buffer) const;
  void leaveIfAllIsHome();
  void forgetContexts(Lock& lock);
  void writeStats();

  Shared shared_;
  const Dispatch& cl_ = shared_.cl;
  const Options& options_ = shared_.options;
  std::unique_ptr<Machine>& machine_ = shared_.machine;
  const DiskCache cache_;
  BinaryOrigins binaryOrigins_;
  Samplers samplers_;
  TrackedBuffers tracked_{shared_};
  Issuer issuer_{shared_};
  Mover mover_{shared_, issuer_};
  Merger merger_{shared_, issuer_, mover_};
  Scheduler scheduler_;
  ReferenceCounts referenceCounts_{shared_, scheduler_.events()};
  Pumps pumps_; ///< of large copies to and from the program
  Provider provider_;
  GroupShapes groupShapes_{shared_};
  Executor executor_{shared_,
                     provider_,
                     issuer_,
                     mover_,
                     merger_,
                     groupShapes_,
                     [this](const auto& program, const auto& code, std::size_t device) {
                       return preparer_.buildWindowed(program, code, device);
                     }};
  HomeCommands homeCommands_{shared_, pumps_, tracked_, issuer_, mover_};
  ContentsFetcher contentsFetcher_;

  Contexts contexts_{shared_};
  bool hasSteppedAside_ = false;    ///< and has waited for what could be brought home
  std::vector<cl_context> givenUp_; ///< and not forgotten yet; handles that may be others' by now
  MemoryTable memory_{shared_, mover_};
  Preparer preparer_{shared_, cache_, binaryOrigins_, contexts_, merger_};
  Programs programs_{shared_, binaryOrigins_, preparer_, scheduler_};
  Kernels kernels_{shared_, programs_, memory_, preparer_};
  NativeWork nativeWork_{shared_, scheduler_, tracked_, memory_};
  Outlooks outlooks_{shared_};
  Commands commands_{shared_,  scheduler_,  pumps_,        memory_,
                     tracked_, nativeWork_, homeCommands_, outlooks_};

  LaunchObserver observer_{shared_, merger_, groupShapes_};
  AheadCompiler ahead_{shared_, cache_};
  Rehearsals rehearsals_{shared_, preparer_, provider_, scheduler_,
                         issuer_, mover_,    executor_, ahead_};
  ChunkedLaunches chunks_{shared_, scheduler_, tracked_, provider_, issuer_, mover_, executor_};
  Prefetcher prefetcher_{shared_, provider_, scheduler_, mover_, executor_};
  LaunchPlanner planner_{shared_, nativeWork_,  contentsFetcher_, executor_, homeCommands_,
                         chunks_, rehearsals_,  prefetcher_,      observer_, outlooks_,
                         ahead_,  groupShapes_, memory_};
  Verifier verifier_{shared_, scheduler_,    tracked_, nativeWork_,
                     issuer_, homeCommands_, planner_, observer_};
  Pool pool_{shared_, memory_, tracked_, preparer_};
  PooledCommands pooledCommands_{shared_, scheduler_, memory_, commands_, homeCommands_};
  PooledLaunches pooledLaunches_{shared_,   scheduler_, recovery_, tracked_,  pool_,
                                 kernels_,  samplers_,  preparer_, commands_, nativeWork_,
                                 provider_, issuer_,    mover_,    executor_, homeCommands_};
  Recovery recovery_{shared_,   scheduler_,    tracked_, issuer_,         mover_,  merger_,
                     executor_, homeCommands_, chunks_,  pooledLaunches_, planner_};
  IdleBuffers idleBuffers_{shared_, scheduler_, tracked_, mover_, chunks_, pooledLaunches_};
  Launcher launcher_{shared_,   scheduler_,   pumps_,      kernels_, samplers_,
                     preparer_, commands_,    nativeWork_, planner_, observer_,
                     verifier_, groupShapes_, idleBuffers_};
};

} // namespace libsplit::runtime
