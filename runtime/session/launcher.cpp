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

/// One call of the program's: whose kernel and queue they are, what is decided, and where it goes.
/// Holds the session's lock until the driver is called.
class Launcher::Call {
public:
  Call(Launcher& by, const Command& command, const LaunchArguments& arguments)
      : by_(by), command_(command), arguments_(arguments),
        enqueuing_(by.pumps_, command.queue, CallTable::State::Undecided), lock_(by.shared_.mutex) {
  }

  cl_int run();

private:
  using Chosen = std::optional<EnqueuedRange>; ///< with its local size; nothing: as it came

  cl_int runWhole();
  void decide();
  std::optional<cl_int> goNatively();
  cl_int goAsTask();
  cl_int asItCame(const CompletionPtr& noted = nullptr);
  cl_int enqueue(const Command& command, const Chosen& chosen, const CompletionPtr& noted) const;
  cl_int timed();
  cl_int settled(const Command& command, std::vector<BufferUse> uses);
  cl_int unknown();
  std::vector<BufferUse> uses() const;
  void countUnsplit(std::string_view why) { by_.countUnsplit(*kernel_, arguments_, why); }
  /// As it is now, to be done later.
  std::shared_ptr<Launch> noted() {
    return snapshot(by_.cl_, by_.samplers_, *kernel_, arguments_, by_.launches_.take());
  }

  Launcher& by_;
  const Command& command_;
  const LaunchArguments& arguments_;
  Pumps::Enqueuing enqueuing_;
  Lock lock_;
  std::shared_ptr<Kernel> kernel_; ///< null: it was made where nobody saw it
  std::shared_ptr<Stream> stream_; ///< null: nobody knows the queue
  TrialBudget::Clock::time_point began_;
  std::uint64_t number_ = 0;             ///< in its queue
  std::string found_;                    ///< why it can't be split
  std::string_view reason_;              ///< why it is not to be; empty: it is
  bool isUnprepared_ = false;            ///< the kernel is, since preparing it does not seem to pay
  std::shared_ptr<Launch> launch_;       ///< null: it is not looked at
  std::optional<std::uint64_t> passing_; ///< what it is in a cycle all the same
};

/// `noted`, if any, is told of its end.
cl_int Launcher::Call::enqueue(const Command& command, const Chosen& chosen,
                               const CompletionPtr& noted) const {
  auto call = [&](cl_bool, cl_uint count, const cl_event* list, cl_event* event) {
    if (chosen) {
      const EnqueuedRange asItCame =
          enqueuedRange(rangeOf(arguments_), false, wholeBox(rangeOf(arguments_)));
      return enqueueParts(by_.cl_, command.queue, arguments_.kernel, arguments_.dimensions,
                          {*chosen, {}}, &asItCame, count, list, event, nullptr);
    }
    if (command.type == CL_COMMAND_TASK)
      return by_.cl_.clEnqueueTask(command.queue, arguments_.kernel, count, list, event);
    return by_.cl_.clEnqueueNDRangeKernel(command.queue, arguments_.kernel, arguments_.dimensions,
                                          arguments_.offset, arguments_.global, arguments_.local,
                                          count, list, event);
  };
  return noted ? by_.nativeWork_.callNoted(command, noted, call)
               : call(CL_FALSE, command.waitCount, command.waitList, command.event);
}

/// Gives it to the driver, at most with a local size that the program left open.
cl_int Launcher::Call::asItCame(const CompletionPtr& noted) {
  if (stream_)
    stream_->nativeWork = true;
  enqueuing_.admit();
  Chosen chosen;
  if (kernel_ && stream_ && kernel_->code->state == KernelCode::State::Ready)
    chosen = by_.shapes_.atHome(*kernel_, arguments_, *stream_);
  lock_.unlock();
  return enqueue(command_, chosen, noted);
}

/// As it came, and noting how long it takes.
cl_int Launcher::Call::timed() {
  const std::uint64_t items = itemsOf(arguments_);
  const bool isProfiled = stream_->profiled;
  const std::shared_ptr<KernelCode> code = kernel_->code;
  const std::shared_ptr<Build> build = kernel_->program->build;
  code->times.timing(items);
  lock_.unlock();
  const Dispatch& cl = by_.cl_;
  cl_event event = nullptr;
  Command own = command_;
  own.event = &event;
  const auto begin = CommandTimer::Clock::now();
  const cl_int status = enqueue(own, {}, nullptr);
  if (status != CL_SUCCESS) {
    const Lock refused(by_.shared_.mutex);
    code->times.refused(items);
    return status;
  }
  auto ended = command_.event ? Ref<cl_event>::retain(cl, event) : Ref<cl_event>::adopt(cl, event);
  if (command_.event)
    *command_.event = event;
  cl.clFlush(command_.queue); // the end of what was not begun would never come
  by_.timer_.time(std::move(ended), begin,
                  [&by = by_, isProfiled, items, code, build](cl_event of, double seconds) {
                    auto at = [&](cl_profiling_info name) {
                      return property<cl_ulong>(by.cl_.clGetEventProfilingInfo, of, name);
                    };
                    const cl_ulong start = isProfiled ? at(CL_PROFILING_COMMAND_START) : 0;
                    const cl_ulong end = isProfiled ? at(CL_PROFILING_COMMAND_END) : 0;
                    const Lock done(by.shared_.mutex);
                    by.preparer_.launchTook(*code, *build, items,
                                            end > start ? 1e-9 * static_cast<double>(end - start)
                                                        : seconds);
                  });
  return status;
}

/// For a launch whose error the application must get in this call, if the driver finds one: nothing
/// is pending then, and its bytes are at home.
cl_int Launcher::Call::settled(const Command& command, std::vector<BufferUse> uses) {
  const cl_int status = by_.commands_.settle(lock_, enqueuing_, command, std::move(uses));
  lock_.unlock();
  return status == CL_SUCCESS ? enqueue(command, {}, nullptr) : status;
}

/// What the launch may touch: all that there is, if it goes where pointers lead that it finds.
std::vector<BufferUse> Launcher::Call::uses() const {
  std::vector<BufferUse> uses = usesOf(*kernel_);
  if (kernel_->code->followsPointers)
    std::ranges::copy(by_.commands_.usesOfUnknown(), std::back_inserter(uses));
  return uses;
}

/// For a launch that touches nobody knows what. Where it can't wait for what is pending, it goes
/// past that.
cl_int Launcher::Call::unknown() {
  Command unknown = command_;
  unknown.refusal = Refusal::All;
  const std::vector<BufferUse> uses = by_.commands_.usesOfUnknown();
  const auto held = by_.commands_.hold(uses); // for another thread may give them up meanwhile
  return settled(unknown, uses);
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
/// worth waiting for. Whether it was. `undecided`: what is decided about only behind others; null:
/// it goes home.
bool Launcher::letUp(Lock& lock, const Command& command, const std::shared_ptr<Stream>& stream,
                     const Launch* undecided) {
  constexpr unsigned mostHeldUp = 33; // odd: of two that take turns each has its turn here
  constexpr unsigned mostPending = 4 * mostHeldUp;
  const bool isHeldUp =
      !stream->idle() && command.waitCount == 0 &&
      (!undecided || (!observer_.splitsOfLate(*stream) && planner_.isShort(*undecided)));
  stream->heldUp = isHeldUp ? stream->heldUp + 1 : 0;
  if (stream->heldUp < mostHeldUp)
    return false;
  stream->heldUp = 0;
  const std::size_t pending = stream->parked.size() + stream->active.size();
  if ((pending > mostPending && !isFilledInVain(*stream, pending, undecided)) ||
      !scheduler_.maySettle(*stream))
    return false;
  scheduler_.waitAll(lock, stream);
  return true;
}

/// So many tasks are pending in a queue that was empty not long ago. What another thread has put
/// there may take any time; but not if less time has passed than those that are over would have to
/// take for being tasks to gain them anything, or more than all launches like `undecided` would
/// have taken at home by now.
bool Launcher::isFilledInVain(const Stream& stream, std::size_t pending,
                              const Launch* undecided) const {
  const std::chrono::duration<double> busy = std::chrono::steady_clock::now() - stream.busySince;
  const auto all = static_cast<double>(stream.submitted - stream.submittedIdle);
  const double retired = all - static_cast<double>(pending);
  return busy.count() < retired * shared_.shortestLaunch(false) ||
         (undecided && busy.count() > all * planner_.homeSeconds(*undecided));
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

cl_int Launcher::Call::run() {
  by_.idleBuffers_.look(lock_);
  kernel_ = by_.kernels_.find(arguments_.kernel);
  if (kernel_ && !by_.options_.explain.empty() && kernel_->code->name == by_.options_.explain)
    by_.explainOnce(lock_, command_.queue, *kernel_, arguments_);
  if (kernel_ && by_.shared_.isQuiet() && kernel_->code->state == KernelCode::State::Unsplittable) {
    ++kernel_->code->stats->launches;
    countUnsplit(kernel_->code->reason);
    return asItCame();
  }
  const Uncancelled whole; // it may wait for its kernel, or for its queue
  return runWhole();
}

cl_int Launcher::Call::runWhole() {
  stream_ = by_.scheduler_.streamOf(lock_, command_.queue);
  if (kernel_)
    ++kernel_->code->stats->launches;
  if (!by_.shared_.isActive() || !stream_) {
    const std::string& steppedAside = by_.shared_.stats.steppedAside;
    if (kernel_)
      countUnsplit(!stream_               ? "its queue is not known"
                   : steppedAside.empty() ? "libsplit is not active"
                                          : steppedAside);
    return asItCame();
  }
  if (!kernel_)
    return unknown();
  if (!isOfOneContext(*stream_, *kernel_) ||
      !by_.commands_.isOfOneContext(*stream_, command_, {})) {
    countUnsplit("its objects are of several contexts");
    return settled(command_, usesOf(*kernel_));
  }
  number_ = by_.observer_.launches(*stream_);
  by_.idleBuffers_.isOfCycle(stream_->cycle.length());
  decide();
  const Launch* undecided = reason_.empty() ? launch_.get() : nullptr;
  if (by_.letUp(lock_, command_, stream_, undecided) && undecided)
    decide(); // now that nothing is before it
  if (const std::optional<cl_int> done = goNatively())
    return *done;
  return goAsTask();
}

/// Whether it is to be split, or to be timed: as far as that is known before those behind which it
/// comes are over.
void Launcher::Call::decide() {
  LaunchPlanner& planner = by_.planner_;
  found_ = by_.whyNotSplittable(lock_, *stream_, *kernel_, arguments_, isUnprepared_);
  reason_ = found_;
  began_ = TrialBudget::Clock::now(); // it may have waited for its kernel until here
  if (reason_.empty() && stream_->idle() &&
      planner.rests(*stream_, *kernel_->code, rangeOf(arguments_), arguments_.local != nullptr,
                    began_))
    reason_ = tooShortToLookAt;
  if (reason_.empty()) {
    launch_ = noted();
    std::size_t& most = kernel_->code->ownMostItems;
    if (!arguments_.local && most == 0)
      by_.cl_.clGetKernelWorkGroupInfo(kernel_->handle, stream_->device, CL_KERNEL_WORK_GROUP_SIZE,
                                       sizeof most, &most, nullptr);
    launch_->isFirst = kernel_->code->stats->launches == 1;
    if (stream_->idle())
      planner.decide(*stream_, *launch_);
    launch_->lookSeconds =
        std::chrono::duration<double>(TrialBudget::Clock::now() - began_).count();
    if (launch_->action == ShareController::Action::Native) {
      reason_ = launch_->whyNative();
      if (!(launch_->isWaiting || launch_->isHeldBack) || planner.isShort(*launch_))
        by_.observer_.spendOnShort(*launch_, launch_->lookSeconds);
    }
  }
  if (reason_.empty() && !by_.scheduler_.startRetiring(stream_))
    reason_ = "there is no thread to be had that would see to its end";
}

/// Gives it to the driver if that may have it at once, and it is not to be split; or if the driver
/// is to refuse it.
std::optional<cl_int> Launcher::Call::goNatively() {
  if (reason_.empty()) {
    if (by_.commands_.isValid(command_, {}))
      return std::nullopt;
    countUnsplit("the driver is to refuse it");
    return asItCame();
  }
  const bool isTimed = isUnprepared_ && isRange(arguments_) &&
                       by_.preparer_.launches(*kernel_, arguments_) && !by_.shared_.ending;
  if (!launch_)
    passing_ = by_.planner_.noteNative(*kernel_, arguments_);
  CompletionPtr noted;
  if (!by_.commands_.admitNative(lock_, enqueuing_, command_, uses(), &noted))
    return std::nullopt;
  if (passing_)
    by_.planner_.passNative(*stream_, *kernel_->program, *kernel_->code, *passing_);
  by_.observer_.passes(*stream_, false);
  countUnsplit(reason_);
  return isTimed && !noted ? timed() : asItCame(noted);
}

/// Has it done in its queue's order, split or not.
cl_int Launcher::Call::goAsTask() {
  by_.kernels_.askForKinds(*kernel_); // arguments may be gone before it runs, but for what is kept
  Command last = command_;
  last.refusal = launch_ ? Refusal::No : refusalOf(by_.cl_, *kernel_, *stream_, arguments_);
  if (last.refusal == Refusal::Some && by_.commands_.mayWaitForProgram(*stream_))
    last.refusal = Refusal::No; // it is told late where the driver refuses it
  const auto clone = last.refusal == Refusal::No ? cloneOf(by_.cl_, *kernel_, *stream_) : nullptr;
  if (!clone) {
    countUnsplit(reason_.empty() ? "the driver makes no second object of the kernel" : reason_);
    return settled(last, uses());
  }
  if (!launch_)
    launch_ = noted();
  Launch& launch = *launch_;
  launch.clone = clone;
  launch.hasArguments = kernel_->isOpaque;
  launch.reason = reason_;
  launch.passing = passing_;
  launch.number = number_;
  by_.submit(stream_, command_, launch_);
  if (launch.wasSplit && !launch.issued.empty() && !launch.isChunked) {
    launch.busySeconds = std::chrono::duration<double>(TrialBudget::Clock::now() - began_).count();
    by_.shared_.splitCost.noteBusy(launch.busySeconds);
  }
  by_.scheduler_.seeThrough(lock_, stream_);
  return CL_SUCCESS;
}

cl_int Launcher::launch(const Command& command, const LaunchArguments& arguments) {
  return Call(*this, command, arguments).run();
}

} // namespace libsplit::runtime
