// clEnqueueNDRangeKernel.
//
// A launch that can't be split, or that is not worth it, goes to the driver as it came if nothing
// is in its way. Otherwise a snapshot is taken (arguments may change and objects may go as soon as
// the call returns) and a task made of it. When the task is planned the shares become counts of
// work-groups, the planner's regions become transfers (plan_launch.cpp), and each piece becomes an
// instruction of its device's lane (executor.h). When it retires it is measured
// (observe_launch.cpp).
#include "runtime/session/launcher.h"

#include "runtime/core/log.h"
#include "runtime/core/thread.h"
#include "runtime/session/splittable.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace libsplit::runtime {

/// `noted`, if any, is told of its end.
cl_int Launcher::launchNative(const Command& command, const LaunchArguments& arguments,
                              const Chosen& chosen, const CompletionPtr& noted) const {
  auto call = [&](cl_bool, cl_uint count, const cl_event* list, cl_event* event) {
    if (chosen) {
      const EnqueuedRange asItCame =
          enqueuedRange(rangeOf(arguments), false, wholeBox(rangeOf(arguments)));
      return enqueueParts(cl_, command.queue, arguments.kernel, arguments.dimensions, {*chosen, {}},
                          &asItCame, count, list, event, nullptr);
    }
    if (command.type == CL_COMMAND_TASK)
      return cl_.clEnqueueTask(command.queue, arguments.kernel, count, list, event);
    return cl_.clEnqueueNDRangeKernel(command.queue, arguments.kernel, arguments.dimensions,
                                      arguments.offset, arguments.global, arguments.local, count,
                                      list, event);
  };
  return noted ? nativeWork_.callNoted(command, noted, call)
               : call(CL_FALSE, command.waitCount, command.waitList, command.event);
}

/// As it came, and noting how long it takes.
cl_int Launcher::launchTimed(Lock& lock, const Command& command, const LaunchArguments& arguments,
                             const Kernel& kernel, bool isProfiled) {
  const std::uint64_t items = itemsOf(arguments);
  kernel.code->times.timing(items);
  const std::shared_ptr<Build> build = kernel.program->build;
  lock.unlock();
  cl_event event = nullptr;
  Command own = command;
  own.event = &event;
  const auto begin = CommandTimer::Clock::now();
  const cl_int status = launchNative(own, arguments, {});
  if (status != CL_SUCCESS) {
    const Lock refused(shared_.mutex);
    kernel.code->times.refused(items);
    return status;
  }
  auto timed = command.event ? Ref<cl_event>::retain(cl_, event) : Ref<cl_event>::adopt(cl_, event);
  if (command.event)
    *command.event = event;
  cl_.clFlush(command.queue); // the end of what was not begun would never come
  timer_.time(std::move(timed), begin,
              [this, isProfiled, items, code = kernel.code, build](cl_event ended, double seconds) {
                auto at = [&](cl_profiling_info name) {
                  return property<cl_ulong>(cl_.clGetEventProfilingInfo, ended, name);
                };
                const cl_ulong start = isProfiled ? at(CL_PROFILING_COMMAND_START) : 0;
                const cl_ulong end = isProfiled ? at(CL_PROFILING_COMMAND_END) : 0;
                const Lock done(shared_.mutex);
                preparer_.launchTook(*code, *build, items,
                                     end > start ? 1e-9 * static_cast<double>(end - start)
                                                 : seconds);
              });
  return status;
}

/// For a launch whose error the application must get in this call, if the driver finds one: nothing
/// is pending then, and its bytes are at home.
cl_int Launcher::launchSettled(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                               std::vector<BufferUse> uses, const LaunchArguments& arguments) {
  const cl_int status = commands_.settle(lock, enqueuing, command, std::move(uses));
  lock.unlock();
  if (status != CL_SUCCESS)
    return status;
  return launchNative(command, arguments, {});
}

/// What the launch may touch: all that there is, if it goes where pointers lead that it finds.
std::vector<BufferUse> Launcher::usesOfLaunch(const Kernel& kernel) const {
  std::vector<BufferUse> uses = usesOf(kernel);
  if (kernel.code->followsPointers)
    std::ranges::copy(commands_.usesOfUnknown(), std::back_inserter(uses));
  return uses;
}

/// For a launch that touches nobody knows what. Where it can't wait for what is pending, it goes
/// past that.
cl_int Launcher::launchUnknown(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                               const LaunchArguments& arguments) {
  Command unknown = command;
  unknown.refusal = Refusal::All;
  const std::vector<BufferUse> uses = commands_.usesOfUnknown();
  const auto held = commands_.hold(uses); // for another thread may give them up meanwhile
  return launchSettled(lock, enqueuing, unknown, uses, arguments);
}

/// `isUnprepared`: the kernel is not prepared, since that does not seem to pay.
std::string Launcher::whyNotSplittable(Lock& lock, const Stream& stream, const Kernel& kernel,
                                       const LaunchArguments& arguments, bool& isUnprepared) {
  if (options_.policy.kind == Policy::Kind::Off)
    return "LIBSPLIT_POLICY=off";
  if (shared_.steppingAside)
    return shared_.stats.steppedAside;
  if (shared_.ending)
    return "the program ends";
  if (kernel.program->beingBuilt > 0)
    return "its program is being built"; // and perhaps not with what the driver has by now
  if (std::string why = preparer_.whyNotReady(lock, kernel, stream.device); !why.empty()) {
    isUnprepared = kernel.code->state == KernelCode::State::New;
    return why;
  }
  if (stream.device != shared_.home)
    return "the queue is not on the program's own device";
  if (!machine_->hasHomeQueues(stream.context))
    return "there are no queues to be had beside the program's";
  return runtime::whyNotSplittable(*machine_, options_, samplers_, kernel, arguments);
}

/// A launch goes to the driver as it came: says why, where somebody wants to know.
void Launcher::countUnsplit(const Kernel& kernel, const LaunchArguments& arguments,
                            std::string_view why) {
  shared_.tracer.native(kernel.code->name, why, shared_.devices());
  if (!options_.wantsStats())
    return;
  KernelStats::PerRange& range =
      kernel.code->stats
          ->ranges[isRange(arguments) ? kernel.code->histories.nameOf(rangeOf(arguments),
                                                                      arguments.local != nullptr)
                                      : "invalid"];
  ++range.launches;
  range.countUnsplit(std::string(why));
}

/// A launch that is timed makes tasks of all that come behind it before it is over, which takes
/// them many times what the driver does. Where thousands follow that all go home, the queue is
/// worth waiting for.
void Launcher::letUp(Lock& lock, const Command& command, const std::shared_ptr<Stream>& stream,
                     bool isNative) {
  constexpr unsigned mostHeldUp = 32, mostPending = 4 * mostHeldUp;
  stream->heldUp = isNative && !stream->idle() && command.waitCount == 0 ? stream->heldUp + 1 : 0;
  if (stream->heldUp < mostHeldUp)
    return;
  stream->heldUp = 0;
  // What another thread has put there may take any time.
  const std::size_t pending = stream->parked.size() + stream->active.size();
  if (pending <= mostPending && scheduler_.maySettle(*stream))
    scheduler_.waitAll(lock, stream);
}

void Launcher::submit(const std::shared_ptr<Stream>& stream, const Command& command,
                      const std::shared_ptr<Launch>& launch) {
  if (options_.verify && launch->reason.empty())
    return verifier_.submit(command, launch);
  auto task = scheduler_.create(stream, command);
  scheduler_.attachEvent(*task, command);
  task->isLaunch = true;
  task->program = launch->program.get();
  task->launch = launch;
  task->plan = [this](Task& planned) { planner_.plan(planned, planned.launch); };
  task->retired = [this](Task& ended) { observer_.observe(ended, *ended.launch); };
  scheduler_.submit(task);
}

cl_int Launcher::launch(const Command& command, const LaunchArguments& arguments) {
  Pumps::Enqueuing enqueuing(pumps_, command.queue, CallTable::State::Undecided);
  Lock lock(shared_.mutex);
  idleBuffers_.look(lock);
  std::shared_ptr<Stream> stream;
  std::shared_ptr<Kernel> kernel;
  auto asItCame = [&](const CompletionPtr& noted = nullptr) {
    if (stream)
      stream->nativeWork = true;
    enqueuing.admit();
    Chosen chosen;
    if (kernel && stream && kernel->code->state == KernelCode::State::Ready)
      chosen = shapes_.atHome(*kernel, arguments, *stream);
    lock.unlock();
    return launchNative(command, arguments, chosen, noted);
  };
  kernel = kernels_.find(arguments.kernel);
  if (kernel && !options_.explain.empty() && kernel->code->name == options_.explain)
    explainOnce(lock, command.queue, *kernel, arguments);
  if (kernel && shared_.isQuiet() && kernel->code->state == KernelCode::State::Unsplittable) {
    ++kernel->code->stats->launches;
    countUnsplit(*kernel, arguments, kernel->code->reason);
    return asItCame();
  }
  const Uncancelled whole; // it may wait for its kernel, or for its queue
  stream = scheduler_.streamOf(lock, command.queue);
  if (kernel)
    ++kernel->code->stats->launches;
  if (!shared_.isActive() || !stream || !kernel) {
    if (kernel)
      countUnsplit(*kernel, arguments,
                   !stream                              ? "its queue is not known"
                   : shared_.stats.steppedAside.empty() ? "libsplit is not active"
                                                        : shared_.stats.steppedAside);
    if (!shared_.isActive() || !stream)
      return asItCame();
    return launchUnknown(lock, enqueuing, command, arguments); // made where nobody saw it
  }
  if (!isOfOneContext(*stream, *kernel) || !commands_.isOfOneContext(*stream, command, {})) {
    countUnsplit(*kernel, arguments, "its objects are of several contexts");
    return launchSettled(lock, enqueuing, command, usesOf(*kernel), arguments);
  }
  const std::uint64_t number = observer_.launches(*stream);
  bool isUnprepared = false;
  const std::string found = whyNotSplittable(lock, *stream, *kernel, arguments, isUnprepared);
  std::string_view reason = found;
  std::shared_ptr<Launch> launch;
  const auto began = TrialBudget::Clock::now();
  if (reason.empty() && stream->idle() &&
      planner_.rests(*stream, *kernel->code, rangeOf(arguments), arguments.local != nullptr, began))
    reason = tooShortToLookAt;
  if (reason.empty()) {
    launch = snapshot(cl_, samplers_, *kernel, arguments);
    if (!arguments.local && kernel->code->ownMostItems == 0)
      cl_.clGetKernelWorkGroupInfo(kernel->handle, stream->device, CL_KERNEL_WORK_GROUP_SIZE,
                                   sizeof kernel->code->ownMostItems, &kernel->code->ownMostItems,
                                   nullptr);
    launch->isFirst = kernel->code->stats->launches == 1;
    if (stream->idle())
      planner_.decide(*stream, *launch);
    const auto decided = TrialBudget::Clock::now();
    launch->lookSeconds = std::chrono::duration<double>(decided - began).count();
    if (launch->action == ShareController::Action::Native) {
      reason = launch->whyNative();
      if (!(launch->isWaiting || launch->isHeldBack) || planner_.isShort(*launch))
        observer_.spendOnShort(*launch, launch->lookSeconds);
    }
  }
  if (reason.empty() && !scheduler_.startRetiring(stream))
    reason = "there is no thread to be had that would see to its end";
  letUp(lock, command, stream, !reason.empty());
  std::optional<std::uint64_t> passing;
  if (!reason.empty()) {
    CompletionPtr noted;
    const bool isTimed = isUnprepared && isRange(arguments) &&
                         preparer_.launches(*kernel, arguments) && !shared_.ending;
    if (!isUnprepared && !launch)
      passing = planner_.noteNative(*kernel, arguments);
    if (commands_.admitNative(lock, enqueuing, command, usesOfLaunch(*kernel), &noted)) {
      if (passing)
        planner_.passNative(*stream, *kernel->program, *kernel->code, *passing);
      observer_.passes(*stream, false);
      countUnsplit(*kernel, arguments, reason);
      if (isTimed && !noted)
        return launchTimed(lock, command, arguments, *kernel, stream->profiled);
      return asItCame(noted);
    }
  } else if (!commands_.isValid(command, {})) {
    countUnsplit(*kernel, arguments, "the driver is to refuse it");
    return asItCame();
  }
  kernels_.askForKinds(*kernel); // arguments may be gone before it runs, but for what is kept
  Command settled = command;
  settled.refusal = launch ? Refusal::No : refusalOf(cl_, *kernel, *stream, arguments);
  if (settled.refusal == Refusal::Some && commands_.mayWaitForProgram(*stream))
    settled.refusal = Refusal::No; // it is told late where the driver refuses it
  const auto clone = settled.refusal == Refusal::No ? cloneOf(cl_, *kernel, *stream) : nullptr;
  if (!clone) {
    countUnsplit(*kernel, arguments,
                 reason.empty() ? "the driver makes no second object of the kernel" : reason);
    return launchSettled(lock, enqueuing, settled, usesOfLaunch(*kernel), arguments);
  }
  if (!launch)
    launch = snapshot(cl_, samplers_, *kernel, arguments);
  launch->clone = clone;
  launch->hasArguments = kernel->isOpaque;
  launch->reason = reason;
  launch->passing = passing;
  launch->number = number;
  submit(stream, command, launch);
  if (launch->wasSplit && !launch->issued.empty() && !launch->isChunked) {
    launch->busySeconds = std::chrono::duration<double>(TrialBudget::Clock::now() - began).count();
    shared_.splitCost.noteBusy(launch->busySeconds);
  }
  scheduler_.seeThrough(lock, stream);
  return CL_SUCCESS;
}

} // namespace libsplit::runtime
