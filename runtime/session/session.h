// The one session of the process: what libsplit knows about the application's objects, and what it
// does when the application calls.
//
// Every member may be called from any thread. One lock guards all tables; drivers are called under
// it only where they return at once. Calls that libsplit has nothing to do with go straight to the
// driver, in the caller's thread, with the caller's arguments.
#pragma once

#include "runtime/core/call_table.h"
#include "runtime/core/options.h"
#include "runtime/core/worker.h"
#include "runtime/cost/known_speeds.h"
#include "runtime/device/machine.h"
#include "runtime/device/memory.h"
#include "runtime/device/pump.h"
#include "runtime/program/program.h"
#include "runtime/session/command.h"
#include "runtime/session/contents_fetcher.h"
#include "runtime/session/contexts.h"
#include "runtime/session/event_table.h"
#include "runtime/session/executor.h"
#include "runtime/session/home_commands.h"
#include "runtime/session/preparer.h"
#include "runtime/session/samplers.h"
#include "runtime/session/stream.h"

#include "solver/chunk_plan.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>

namespace libsplit::runtime {

/// A binary that a program is made from.
struct BinaryUse {
  cl_device_id device = nullptr;
  std::string_view bytes;
};

/// A program that another may include by `name` when it is compiled.
struct HeaderUse {
  std::string name;
  cl_program program = nullptr;
};

struct Launch;
struct ChunkedLaunch;
struct Verification;

class Session {
public:
  Session(const Dispatch& cl, Options options);
  /// One that has stepped aside: every call passes.
  explicit Session(const Dispatch& cl);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Dispatch& cl() const { return cl_; }
  /// False once libsplit has stepped aside for good: everything is native then.
  bool active() const { return active_.load(std::memory_order_acquire); }
  /// Nothing is pending and every byte is at home alone, so any command may go to the driver as it
  /// is. That is how a program runs that can't be split: this is all that most of its calls cost.
  /// Asked by a call that is in the table of calls: it stays so until that one is over.
  bool quiet() const { return engagements_ == 0; }
  /// Steps aside for good: finishes what is pending and brings all data home. `why` is for the log.
  void stepAside(const std::string& why);
  /// Before the process ends: ends background analyses and builds, lets work end that is under way,
  /// writes the statistics. From then on nothing is split and nothing is compiled. Called while
  /// drivers are still whole, from any thread; later calls do nothing.
  void finish();
  /// In the child of a fork: no threads here, so nothing but native calls.
  void abandonAfterFork();

  // Objects, as the application makes and drops them. Handles are the driver's.
  void contextCreated(cl_context context) { contexts_.created(context); }
  void contextRetained(cl_context context) { contexts_.retained(context); }
  void contextReleased(cl_context context);
  void queueCreated(cl_command_queue queue);
  void queueRetained(cl_command_queue queue);
  void queueReleased(cl_command_queue queue);
  void bufferCreated(cl_mem buffer);
  void subBufferCreated(cl_mem part, cl_mem parent);
  void imageCreated(cl_mem image);
  void imageOverBuffer(cl_mem image, cl_mem buffer);
  /// The object's bytes can change behind libsplit's back, or be read there.
  void keepAtHome(cl_mem buffer, const std::string& why);
  void memoryRetained(cl_mem object);
  void memoryReleased(cl_mem object);
  void programCreated(cl_program program, cl_context context, std::optional<std::string> source,
                      const std::string& opaque);
  /// The program is no longer what it was made from: never split its kernels.
  void programOpaque(cl_program program, const std::string& why);
  void programCreatedFrom(cl_program program, cl_context context,
                          const std::vector<BinaryUse>& binaries);
  /// By binary: whether LIBSPLIT_REBUILD has it refused, so that the application builds from
  /// source.
  std::vector<bool> refused(const std::vector<BinaryUse>& binaries) const;
  /// The application is about to build for these devices; none stands for all. The build before,
  /// for `programBuilt`; null if the driver must refuse, since the program has kernels.
  std::shared_ptr<Build> programBuilding(cl_program program, std::vector<cl_device_id> devices,
                                         const char* options);
  /// What the driver said to it.
  void programBuilt(cl_program program, const std::shared_ptr<Build>& before, cl_int status,
                    double seconds);
  /// The application is about to compile a unit for these devices; none stands for all. What it was
  /// compiled from before, for `programCompiled`.
  SourceUnits programCompiling(cl_program program, std::vector<cl_device_id> devices,
                               const char* options, std::span<const HeaderUse> headers);
  /// What the driver said to it.
  void programCompiled(cl_program program, SourceUnits before, cl_int status);
  /// What a program that is linked from `inputs` is made from, by device; without those devices
  /// for which it is not known.
  std::map<cl_device_id, LinkedUnits> partsOfLink(cl_context context,
                                                  std::vector<cl_device_id> devices,
                                                  const char* options,
                                                  std::span<const cl_program> inputs);
  /// `program` was linked from `parts`; it may be a library.
  void programLinked(cl_program program, cl_context context,
                     const std::map<cl_device_id, LinkedUnits>& parts);
  /// The application has read the program's binaries: one for each of its devices, null for those
  /// that it did not want.
  void binariesRead(cl_program program, std::span<const unsigned char* const> binaries);
  void programRetained(cl_program program);
  void programReleased(cl_program program);
  void kernelCreated(cl_kernel kernel, cl_program program);
  void kernelCloned(cl_kernel clone, cl_kernel original);
  void kernelRetained(cl_kernel kernel);
  void kernelReleased(cl_kernel kernel);
  void argumentSet(cl_kernel kernel, cl_uint index, std::size_t size, const void* value);
  /// The kernel got something that libsplit can't follow (an SVM pointer): never split it.
  void kernelOpaque(cl_kernel kernel, const std::string& why);
  /// … as an argument, in place of what that was.
  void argumentUnfollowed(cl_kernel kernel, cl_uint index, const std::string& why);
  // Samplers live as long as launches that use them.
  void samplerCreated(cl_sampler sampler) { samplers_.created(sampler); }
  void samplerRetained(cl_sampler sampler) { samplers_.retained(sampler); }
  void samplerReleased(cl_sampler sampler) { samplers_.released(sampler); }
  void userEventCreated() { userEvents_ = true; }

  // Events.
  void eventRetained(cl_event event) { events_.retained(event); }
  EventTable& events() { return events_; }
  /// Waits for the tasks behind those of `list` that are libsplit's own events.
  void awaitEvents(cl_uint count, const cl_event* list);

  // Commands.
  cl_int launch(const Command& command, const LaunchArguments& arguments);
  cl_int read(const Command& command, cl_mem buffer, std::size_t offset, std::size_t size,
              void* host);
  /// A write goes to each device for what that will read of it, as far as that is known.
  cl_int write(const Command& command, cl_mem buffer, std::size_t offset, std::size_t size,
               const void* host);
  /// Has the driver or a pump copy between a buffer of the program's and its memory, as soon as
  /// what came before it is over. `isWaitedFor`: the program waits, also where the driver's call is
  /// not to block. Never with the lock.
  cl_int copyNatively(const BulkCopy& copy, cl_bool blocking, bool isWaitedFor);
  /// The driver's own memory, or what it was given as such: no pump is needed there.
  void driverMemory(const void* address, std::size_t size) { pumps_.excludes(address, size); }
  /// Any other command: runs on the home device, with the bytes that it uses brought there.
  template <class Call>
  cl_int command(const Command& command, std::initializer_list<BufferUse> uses, Call&& call) {
    return commandOver(command, uses, std::forward<Call>(call));
  }
  template <class Uses, class Call>
  cl_int commandOver(const Command& command, const Uses& of, Call&& call) {
    Pumps::Enqueuing enqueuing(pumps_, command.queue, CallTable::State::Admitted);
    CompletionPtr noted;
    if (!quiet()) {
      enqueuing.reconsider();
      const std::vector<BufferUse> uses(of);
      std::unique_lock lock(mutex_);
      if (active() && !admitNative(lock, enqueuing, command, uses, &noted)) {
        enqueuing.end();
        return defer(lock, command, uses, NativeCall(std::forward<Call>(call)));
      }
    }
    if (noted)
      return callNoted(command, noted, NativeCall(std::forward<Call>(call)));
    return call(command.blocking, command.waitCount, command.waitList, command.event);
  }
  /// Enqueues a map that does not block behind what is pending; the first of `uses` is its own. Its
  /// address, or null where the caller has to call `settle` and the driver. The caller holds
  /// `enqueuing` all the while.
  void* mapBehind(Pumps::Enqueuing& enqueuing, const Command& command,
                  const std::vector<BufferUse>& uses, cl_map_flags flags);
  /// The uses of a map, the first of which is `use` itself. Where devices map buffers in place,
  /// programs read beyond what they have mapped; if that takes little, all of the buffer is to be
  /// at home then.
  std::vector<BufferUse> usesOfMap(const BufferUse& use);
  /// For commands that can't be deferred (a blocking map, or what the driver may refuse: put off,
  /// the error would come too late for the application): waits until the queue is native and the
  /// bytes are at home. The caller then calls the driver itself. An error if the bytes can't be
  /// brought, since a device that had them failed: then the command has that error.
  /// `enqueuing` is admitted then.
  cl_int settle(Pumps::Enqueuing& enqueuing, const Command& command,
                const std::vector<BufferUse>& uses);
  /// To be held by who calls the driver itself, after `settle`.
  Pumps::Enqueuing enqueuing(cl_command_queue queue) {
    return {pumps_, queue, CallTable::State::Undecided};
  }
  /// Waits until nothing of libsplit's is pending on the queue. CL_OUT_OF_RESOURCES if a command of
  /// it failed, since the last time, for want of bytes that were lost with their device.
  cl_int finishQueue(cl_command_queue queue);
  /// Whether two uses have bytes in common, perhaps by way of different sub-buffers.
  bool overlap(const BufferUse& a, const BufferUse& b);
  /// One map more. `writes`: it may be written to.
  void mapped(cl_mem buffer, const void* address, bool writes);
  /// One map less.
  void unmapped(cl_mem buffer, const void* address);
  bool isMappedForWriting(cl_mem buffer);
  /// Whether the application has mapped it there; true also for what is no tracked buffer.
  bool mayBeMapped(cl_mem object, const void* address);

  void writeStats();

private:
  using Lock = std::unique_lock<std::mutex>;

  // session.cpp
  std::span<const Device> devices() const;
  std::shared_ptr<Stream> findStream(cl_command_queue queue);
  std::shared_ptr<Stream> streamOf(Lock& lock, cl_command_queue queue);
  std::shared_ptr<MemoryObject> findObject(cl_mem object);

  // programs.cpp
  void track(std::shared_ptr<Program> program);
  void askForKinds(const Kernel& kernel) const;
  std::shared_ptr<const HeaderSnapshot> seenHeaders(cl_program program, const char* options);

  // commands.cpp
  bool admitNative(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                   const std::vector<BufferUse>& uses, CompletionPtr* noted);
  bool tryNative(const std::shared_ptr<Stream>& stream, Pumps::Enqueuing& enqueuing,
                 const Command& command, const std::vector<BufferUse>& uses, CompletionPtr* noted);
  cl_int settle(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                std::vector<BufferUse> uses);
  bool isOfOneContext(const Stream& stream, const Command& command,
                      const std::vector<BufferUse>& uses);
  bool hostMayDo(const Command& command, const std::vector<BufferUse>& uses);
  bool isBusy(const std::vector<BufferUse>& uses);
  bool waitListIsNative(const Command& command);
  bool isValid(const Command& command, const std::vector<BufferUse>& uses);
  cl_int defer(Lock& lock, const Command& command, const std::vector<BufferUse>& uses,
               NativeCall call);

  // tasks.cpp
  std::shared_ptr<Task> newTask(const std::shared_ptr<Stream>& stream, const Command& command);
  void attachEvent(Task& task, const Command& command);
  void submit(const std::shared_ptr<Task>& task);
  bool needsMarker(const Stream& stream) const;
  void fence(const std::shared_ptr<Task>& task);
  void callsEnded();
  void goOn();
  void stepBack();
  void addWaitList(const std::shared_ptr<Task>& task, const Command& command);
  void addBarriers(const std::shared_ptr<Task>& task, const Command& command);
  void addNativeEvent(const std::shared_ptr<Task>& task, cl_event event);
  bool callOnEnd(cl_event event, std::function<void()> job);
  void pump(const std::shared_ptr<Stream>& stream);
  void pumpAll();
  bool canPlan(const Stream& stream, const Task& task) const;
  static std::size_t launchesOf(const Stream& stream);
  static bool isFilled(const Stream& stream);
  void planTask(const std::shared_ptr<Task>& task);
  static void failBehind(Task& task, const Task& before);
  void callPlan(Task& task);
  void awaitParts(Lock& lock, Task& task, bool helping);
  void retireLoop(std::shared_ptr<Stream> stream);
  void retireOldest(Lock& lock, const std::shared_ptr<Stream>& stream, bool helping);
  void retire(Lock& lock, const std::shared_ptr<Task>& task);
  void awaitRetired(Lock& lock, const Task& task);
  void completeEvent(Lock& lock, Task& task);
  bool finishTasks(Lock& lock);
  cl_int waitFor(Lock& lock, const std::shared_ptr<Task>& task);
  void waitIdle(Lock& lock, const std::shared_ptr<Stream>& stream);

  // commands with what they use, movement.cpp
  std::string engage(Task& task, const Launch& launch);
  bool awaitNativeWork(Task& task, const Launch& launch);
  std::shared_ptr<const CallTable::Awaited> callsBeside(const Task& task);
  std::optional<std::vector<CompletionPtr>> nativeWorkBeside(const Stream& stream);
  bool bookNativeWrites(const std::shared_ptr<Stream>& stream, const std::vector<BufferUse>& uses,
                        CompletionPtr* noted);
  cl_int callNoted(const Command& command, const CompletionPtr& noted, const NativeCall& call);
  void issue(const std::shared_ptr<AddressSearch>& search, const Buffer& buffer);
  bool homeIsCurrent(const std::vector<BufferUse>& uses);
  std::vector<HeldUse> hold(const std::vector<BufferUse>& uses);
  static void noteOutputs(Task& task, const std::vector<HeldUse>& uses);
  bool isReadElsewhere(Lock& lock, const Command& command, const BufferUse& use);

  // launches, launch.cpp
  std::vector<BufferUse> usesOf(const Kernel& kernel) const;
  std::shared_ptr<Launch> snapshot(const Kernel& kernel, const LaunchArguments& arguments);
  std::string whyNotSplittable(Lock& lock, const std::shared_ptr<Stream>& stream,
                               const std::shared_ptr<Kernel>& kernel,
                               const LaunchArguments& arguments);
  bool mayRunElsewhere(const Kernel& kernel) const;
  bool rests(const Kernel& kernel, const LaunchArguments& arguments,
             TrialBudget::Clock::time_point now) const;
  void countUnsplit(const Kernel& kernel, const LaunchArguments& arguments, const std::string& why);
  void explainOnce(Lock& lock, cl_command_queue queue, const std::shared_ptr<Kernel>& kernel,
                   const LaunchArguments& arguments);
  void countUnsplit(Task& task, const Launch& launch, const std::string& why);
  void spendOnShort(const Launch& launch, double seconds);
  std::string whyRangeNotSplittable(const Kernel& kernel, const LaunchArguments& arguments) const;
  static bool isOfOneContext(const Stream& stream, const Kernel& kernel);
  bool driverMayRefuse(const Kernel& kernel, const Stream& stream,
                       const LaunchArguments& arguments) const;
  cl_int launchNative(const Command& command, const LaunchArguments& arguments,
                      const CompletionPtr& noted = nullptr);
  cl_int launchSettled(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                       const Kernel& kernel, const LaunchArguments& arguments);
  bool makeClone(Kernel& kernel);
  bool sharesHostMemory() const;
  bool noteUnprepared(const Kernel& kernel, const LaunchArguments& arguments);
  cl_int launchTimed(Lock& lock, const Command& command, const LaunchArguments& arguments,
                     const Kernel& kernel, bool isProfiled);

  // their plans, plan_launch.cpp
  void decide(Stream& stream, Launch& launch);
  double movingSeconds(const Launch& launch) const;
  double movingSeconds(std::uint64_t bytes) const;
  bool hasNewcomer(const Launch& launch, const LaunchHistory& history);
  bool isFasterElsewhere(const Launch& launch) const;
  void takeControl(const Launch& launch, LaunchHistory& history);
  bool decideWithout(std::size_t device, Launch& launch);
  static void adopt(Launch& launch, const ShareController::Decision& decision);
  LaunchCycle::Ruling rulingOf(Stream& stream, const Launch& launch, LaunchHistory& history);
  std::string planAsDecided(Task& task, const std::shared_ptr<Launch>& launch);
  void planLaunch(Task& task, const std::shared_ptr<Launch>& launch);
  std::shared_ptr<const LaunchPlan>
  boundariesFirstOf(const Task& task, Launch& launch,
                    const std::shared_ptr<const LaunchPlan>& plan);
  void planUnsplit(Task& task, const std::shared_ptr<Launch>& launch);
  std::string planSplit(Task& task, const std::shared_ptr<Launch>& launch);
  std::shared_ptr<const LaunchPlan> planOrFetch(Task& task, const std::shared_ptr<Launch>& launch,
                                                std::span<const double> shares, std::string& why);
  std::shared_ptr<const LaunchPlan> choosePlan(const Task& task, Launch& launch,
                                               std::span<const double> shares, std::string& why);
  std::vector<PlanDevice> planDevices(const Launch& launch) const;

  // devices that join late, rehearse.cpp
  bool canTakePart(std::size_t device, const Launch& launch, const LaunchHistory& history);
  void settleRehearsals(const Launch& launch, LaunchHistory& history,
                        const ShareController::Prior& prior) const;
  void rehearse(Task& task, const std::shared_ptr<Launch>& launch);
  void rehearseOn(std::size_t device, const GroupBox& box, Task& task, Launch& launch,
                  LaunchHistory& history);
  void rehearsed(std::size_t device, std::uint64_t groups, KernelCode& code, const LaunchKey& key,
                 const NDRange& range, const Completion& kernel);

  // what they took, observe_launch.cpp
  void observe(Task& task, Launch& launch);
  void countSplit(const Launch& launch, double wall, std::vector<double> shares,
                  std::vector<double> seconds);
  void noteMoving(std::uint64_t bytes, double seconds);
  void remember(const Launch& launch, LaunchHistory& history, std::uint64_t groups);

  // what failed on a helper, recovery.cpp
  bool recover(Lock& lock, const Task& failed);
  void drain(Lock& lock);
  std::vector<std::shared_ptr<Task>> plannedTasks() const;
  void leaveOutFailed(const std::vector<std::shared_ptr<Task>>& tasks);
  bool helperFailed(const Task& task) const;
  void tryRedo(Task& task);
  void loseOutputs(const Task& task);
  void redo(Task& task);
  void redoAtHome(Task& task, const std::shared_ptr<Launch>& launch);
  void redoPieces(Task& task, Launch& launch);
  void redoMerges(Task& task, Launch& launch);
  // launches in chunks, chunked_launch.cpp
  bool canChunk(const Launch& launch) const;
  std::string planChunks(Task& task, const std::shared_ptr<Launch>& launch);
  void feed(const std::shared_ptr<ChunkedLaunch>& chunked, std::size_t member);
  std::string reserveNow(Lock& lock, Launch& launch, std::size_t device);
  bool giveChunk(Lock& lock, ChunkedLaunch& chunked, std::size_t member);
  LaunchIssued issueChunk(ChunkedLaunch& chunked, std::size_t device, solver::GroupRange range);
  void leaveChunk(ChunkedLaunch& chunked, solver::GroupRange range);
  void closeChunks(ChunkedLaunch& chunked);
  void observeChunks(Launch& launch, double wall);

  // verification, verify.cpp
  cl_int launchVerified(const Command& command, const std::shared_ptr<Launch>& launch);
  void planReadAll(Task& task, const Verification& verification,
                   std::vector<std::vector<std::byte>>& contents);
  void planRestore(Task& task, Verification& verification);
  void compare(const Verification& verification);
  bool isBeingVerified(const Buffer& buffer) const;

  void leaveIfAllIsHome();

  Shared shared_;
  const Dispatch& cl_ = shared_.cl;
  const Options& options_ = shared_.options;
  const DiskCache cache_;
  BinaryOrigins binaryOrigins_;
  std::atomic<bool> active_{true};
  std::atomic<bool> userEvents_{false};
  std::atomic<bool>& ending_ = shared_.ending;

  std::mutex& mutex_ = shared_.mutex;
  std::condition_variable& progress_ = shared_.progress;
  cl_device_id& home_ = shared_.home;
  std::unique_ptr<Machine>& machine_ = shared_.machine;
  std::unique_ptr<KnownSpeeds>& knownSpeeds_ = shared_.knownSpeeds;

  CallTable calls_; ///< what the program's threads enqueue
  Pumps pumps_;     ///< of large copies to and from the program
  Samplers samplers_;
  TrackedBuffers tracked_{shared_};
  Provider provider_;
  Issuer issuer_{shared_};
  Mover mover_{shared_, issuer_};
  Merger merger_{shared_, issuer_, mover_};
  Executor executor_{shared_, provider_, issuer_, mover_, merger_};
  HomeCommands homeCommands_{shared_, pumps_, tracked_, issuer_, mover_};
  ContentsFetcher contentsFetcher_;
  Contexts contexts_{shared_};
  Preparer preparer_{shared_, cache_, binaryOrigins_, contexts_, merger_};

  std::unordered_map<cl_command_queue, std::shared_ptr<Stream>> streams_;
  struct TrackedMemory {
    std::shared_ptr<MemoryObject> object;
    int references = 1;
  };
  std::unordered_map<cl_mem, TrackedMemory> memory_;
  std::unordered_map<cl_program, std::shared_ptr<Program>> programs_;
  std::unordered_map<cl_kernel, std::shared_ptr<Kernel>> kernels_;
  EventTable events_{mutex_};
  std::size_t unfinishedTasks_ = 0;
  std::uint64_t plannings_ = 0; ///< of tasks, so far
  bool recovering_ = false;     ///< nobody plans, and no task retires
  bool steppingAside_ = false;  ///< nothing is split any more; inactive once no task is unfinished
  std::chrono::steady_clock::time_point lastTimedEnd_{}; ///< of a launch that was timed
  std::atomic<std::size_t> engagements_{0};              ///< unfinished tasks and engaged buffers

  bool hasSplit_ = false;     ///< a launch
  double secondsPerByte_ = 0; ///< that moved between nodes, smoothed; 0: none did yet
  std::set<std::shared_ptr<KernelStats>> explained_; ///< kernels that LIBSPLIT_EXPLAIN told of
  Worker resolver_;                                  ///< foreign events that completed
  std::vector<std::unique_ptr<Worker>> feeders_;   ///< by device: who asks for chunks on its behalf
  std::shared_ptr<ChunkedLaunch> openChunks_;      ///< while it is being given out nobody plans
  std::shared_ptr<Verification> openVerification_; ///< while it goes on only its own tasks are
                                                   ///< planned
};

} // namespace libsplit::runtime
