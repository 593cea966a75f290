// Launches on pooled buffers, which the driver can't be given: it has no such buffers.
//
// What each work-group touches must be known, as for any launch that is split. Then each device,
// the program's own among them, gets its share of the work-groups, and does as many of them at once
// as there is room for what they touch. Mostly that is all of them, and the bytes stay where they
// are from launch to launch. Else it does them batch by batch: before each, copies that do not
// cover it are given up, and with them those of buffers that the launch does not use, the least
// recently used first; what the device has alone goes to the host's memory, and comes back when it
// is needed.
//
// Who gives the batches out has a thread of its own, for it has to wait until a copy is used no
// more. Meanwhile nobody else plans, as with chunks (chunked_launch.cpp), which are also where the
// reasons stand why the batches have the effect of running one after another. Where results of
// several devices would have to be merged, or work-groups read what others write, one device does
// all batches.
//
// A kernel of which nothing is known works on whole copies, on the program's own device, if they
// fit there. What fits nowhere is refused in the call, with the error of a driver that has no room.
// What fails only later ends the task with an error, and what it should have written is lost: who
// reads that gets an error too, since a batch that worked in place can't be done again.
//
// Worked example: two devices with room for 6 GiB, a stencil from one grid of 8 GiB to another,
// equal shares. Each has to touch 4 GiB of both, and has room for three quarters of that: so it
// does three quarters of its work-groups, gives up those windows, whose results go to the host, and
// does the rest. With room for 9 GiB each does its share at once, and in the next launch gets a
// halo from the other.
#include "runtime/session/pooled_launches.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/log.h"
#include "runtime/core/thread.h"
#include "runtime/session/splittable.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace libsplit::runtime {

/// One that is a task, until it is given out.
struct PooledLaunch {
  struct Part {
    std::size_t device = 0;
    std::vector<Batch> batches; ///< that are still to be given out
  };

  std::shared_ptr<Task> task; ///< while it is being given out
  std::shared_ptr<Launch> launch;
  std::vector<PlanDevice> planDevices;
  std::vector<std::size_t> devices; ///< that can take part
  bool mayStayAtHome = false;       ///< home can do all of it, whether or not it is to take part
  std::vector<bool> takesWindows;   ///< by device: else its copies have to be whole
  unsigned dimension = 0;
  std::vector<Part> parts;             ///< none: the whole of it by the program's own kernel
  std::vector<PieceUse> whole;         ///< then: what it may do, by buffer
  std::vector<std::size_t> issued;     ///< devices of the batches that were given out
  std::shared_ptr<const void> promise; ///< of room at home, until it is given out
  bool hasBegun = false;

  bool uses(const Buffer& buffer) const {
    return std::ranges::any_of(launch->buffers,
                               [&](const auto& each) { return each.get() == &buffer; });
  }
};

namespace {

/// Why a kernel of which nothing is known can't be launched, where that is so.
constexpr const char* wholeIsTooLarge =
    "what it touches is not known, and the program's own device has no room for its buffers";
/// Drivers let go of a buffer's memory a moment after the last command on it is over.
constexpr unsigned mostPauses = 20;
constexpr auto pause = std::chrono::milliseconds(1);

constexpr const char* oneGroupIsTooLarge =
    "no device has room for what one of its work-groups touches";

} // namespace

// --- the program's call

bool PooledLaunches::usesPooled(const Kernel& kernel) const {
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    if (const auto object = kernel.memoryOf(i);
        object && object->buffer && object->buffer->pooled())
      return true;
  return false;
}

/// What a driver would answer.
cl_int PooledLaunches::errorOf(const Stream& stream, const Kernel& kernel, const Command& command,
                               const LaunchArguments& arguments) const {
  if (!hasSoundWaitList(command))
    return CL_INVALID_EVENT_WAIT_LIST;
  if (!isOfOneContext(stream, kernel) || !commands_.isOfOneContext(stream, command, {}))
    return CL_INVALID_CONTEXT;
  if (arguments.dimensions < 1 || arguments.dimensions > 3)
    return CL_INVALID_WORK_DIMENSION;
  if (!arguments.global ||
      std::count(arguments.global, arguments.global + arguments.dimensions, 0u) > 0)
    return CL_INVALID_GLOBAL_WORK_SIZE;
  if (std::ranges::any_of(kernel.arguments, [](const Argument& each) { return !each.isSet; }))
    return CL_INVALID_KERNEL_ARGS;
  for (unsigned d = 0; d < arguments.dimensions; ++d)
    if (arguments.offset && arguments.offset[d] + arguments.global[d] < arguments.global[d])
      return CL_INVALID_GLOBAL_OFFSET;
  if (arguments.local &&
      std::count(arguments.local, arguments.local + arguments.dimensions, 0u) > 0)
    return CL_INVALID_WORK_GROUP_SIZE;
  const NDRange range = rangeOf(arguments);
  if (arguments.local && !fits(range.local, machine_->homeDevice().maxItems))
    return CL_INVALID_WORK_ITEM_SIZE;
  const Refusal refusal = refusalOf(cl_, kernel, stream, arguments);
  const bool isUneven = arguments.local && isNonUniform(range);
  return refusal == Refusal::No ||
                 (refusal == Refusal::Some && isUneven && machine_->homeDevice().nonUniformGroups)
             ? CL_SUCCESS
             : CL_INVALID_WORK_GROUP_SIZE;
}

/// Why it is not known what its work-groups touch, if so.
std::string PooledLaunches::whyNotAnalysed(Lock& lock, const Stream& stream, const Kernel& kernel,
                                           const LaunchArguments& arguments) {
  // It may not be built with what the driver has by now.
  constexpr const char* isBeingBuilt = "its program is being built";
  if (kernel.program->beingBuilt > 0)
    return isBeingBuilt;
  if (std::string why = preparer_.whyNeverReady(lock, kernel, stream.device); !why.empty())
    return why;
  if (kernel.program->beingBuilt > 0)
    return isBeingBuilt;
  std::string why = whyNotSplittable(*machine_, shared_.options, samplers_, kernel, arguments);
  return why == onlyOneGroup ? std::string() : why;
}

std::optional<cl_int> PooledLaunches::launch(const Command& command,
                                             const LaunchArguments& arguments) {
  Lock lock(shared_.mutex);
  const std::shared_ptr<Kernel> kernel = kernels_.find(arguments.kernel);
  if (!kernel || !usesPooled(*kernel))
    return std::nullopt;
  const Uncancelled whole; // it waits for its kernel
  const auto stream = scheduler_.streamOf(lock, command.queue);
  if (!stream)
    return CL_INVALID_COMMAND_QUEUE;
  KernelCode& code = *kernel->code;
  ++code.stats->launches;
  kernels_.askForKinds(*kernel);
  if (const cl_int error = errorOf(*stream, *kernel, command, arguments))
    return error;
  const auto refused = [&](const std::string& why) {
    if (told_.insert(&code).second)
      log(LogLevel::Warn, "kernel ", code.name,
          " can't be launched on a buffer that is larger than a device: ", why);
    code.stats->ranges["refused"].countUnsplit(why);
    return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  };
  if (kernel->isOpaque)
    return refused("not all of its arguments are known");
  auto work = std::make_shared<PooledLaunch>();
  const std::string whyNot = whyNotAnalysed(lock, *stream, *kernel, arguments);
  for (std::size_t i = 0; i < kernel->arguments.size(); ++i)
    if (code.kinds[i] == ArgumentKind::Unknown && kernel->memoryOf(i))
      return refused("it is not known whether an argument is a buffer or a number");
  work->launch = snapshot(cl_, samplers_, *kernel, arguments);
  work->launch->clone = cloneOf(cl_, *kernel, *stream);
  if (!work->launch->clone)
    return refused("the driver makes no second object of it");
  work->launch->reason = whyNot;
  std::string why;
  if (whyNot.empty())
    why = choose(lock, *work);
  else if (why = chooseWhole(*work); !why.empty())
    why = whyNot + "; " + why;
  if (!why.empty())
    return refused(why);
  work->promise = pool_.promise(neededAtHome(*work));
  auto task = scheduler_.create(stream, command);
  scheduler_.attachEvent(*task, command);
  task->isLaunch = task->isPooled = true;
  task->program = work->launch->program.get();
  for (std::size_t i = 0; i < work->launch->objects.size(); ++i)
    if (const auto& object = work->launch->objects[i];
        object && object->buffer && (i >= code.writes.size() || code.writes[i]))
      task->outputs.emplace_back(object->buffer,
                                 ByteSet(object->origin, object->origin + object->size));
  task->plan = [this, work](Task& planned) { plan(planned, work); };
  task->retired = [this, work](Task& ended) { count(ended, *work); };
  scheduler_.submit(task);
  scheduler_.seeThrough(lock, stream);
  return CL_SUCCESS;
}

// --- what is to be done where

/// Why the launch can't be done, if so.
std::string PooledLaunches::choose(Lock& lock, PooledLaunch& work) {
  work.planDevices = planDevicesOf(*machine_, *work.launch);
  findDevices(lock, work);
  if (work.devices.empty())
    return "no device can take it";
  return chooseCut(work) || chooseOne(work, work.devices) ? std::string() : oneGroupIsTooLarge;
}

/// The same of the whole launch on the program's own device, by its own kernel.
std::string PooledLaunches::chooseWhole(PooledLaunch& work) const {
  const Launch& launch = *work.launch;
  std::vector<PieceUse>& uses = work.whole;
  uses.resize(launch.buffers.size());
  const std::vector<bool>& writes = launch.code->writes;
  for (const BufferArgument& argument : launch.request.buffers) {
    const ByteSet all(0, launch.buffers[argument.buffer]->size());
    uses[argument.buffer].needs = all;
    if (argument.parameter >= writes.size() || writes[argument.parameter])
      uses[argument.buffer].writes = all;
  }
  return fit(work, machine_->home(), uses) ? std::string() : wholeIsTooLarge;
}

void PooledLaunches::findDevices(Lock& lock, PooledLaunch& work) {
  Launch& launch = *work.launch;
  const std::size_t count = machine_->devices().size();
  work.takesWindows.assign(count, false);
  const auto canTakePart = [&](std::size_t i) {
    const Device& device = machine_->devices()[i];
    return device.node != hostNode && launch.code->summaries[i] && launch.code->kernels[i] &&
           executor_.prepareOn(launch, i).empty();
  };
  const Policy& policy = shared_.options.policy;
  const auto isWanted = [&](std::size_t i) {
    const Device& device = machine_->devices()[i];
    const bool isNamed = policy.kind != Policy::Kind::Single || policy.device == i;
    return policy.kind == Policy::Kind::Off ? device.isHome : device.participates && isNamed;
  };
  for (std::size_t i = 0; i < count; ++i)
    if (isWanted(i) && canTakePart(i))
      work.devices.push_back(i);
  const std::size_t home = machine_->home();
  if (work.devices.empty() && canTakePart(home))
    work.devices.push_back(home);
  for (const std::size_t device : work.devices)
    work.takesWindows[device] = takesWindows(lock, work, device);
  const auto isPooled = [](const std::shared_ptr<Buffer>& each) { return each->pooled(); };
  work.mayStayAtHome = std::ranges::count(work.devices, home) > 0;
  if (!work.mayStayAtHome && !std::ranges::all_of(launch.buffers, isPooled) && canTakePart(home)) {
    work.mayStayAtHome = true;
    work.takesWindows[home] = takesWindows(lock, work, home);
  }
}

bool PooledLaunches::takesWindows(Lock& lock, PooledLaunch& work, std::size_t device) {
  Launch& launch = *work.launch;
  const CompletionPtr built = preparer_.buildWindowed(launch.program, launch.code, device);
  if (built && !built->over() && !CallbackScope::active()) {
    lock.unlock();
    built->wait();
    lock.lock();
  }
  return built && built->over() && canTakeWindows(launch, device);
}

std::vector<double> PooledLaunches::sharesOf(const PooledLaunch& work) const {
  const Policy& policy = shared_.options.policy;
  std::vector<double> shares(machine_->devices().size());
  double all = 0;
  for (const std::size_t device : work.devices) {
    const bool isGiven = policy.kind == Policy::Kind::Static && device < policy.shares.size();
    shares[device] = isGiven ? policy.shares[device] : guessedSpeedOf(machine_->devices()[device]);
    all += shares[device];
  }
  for (double& share : shares)
    share /= all > 0 ? all : 1;
  return shares;
}

/// These groups, in batches for which the device has room; empty: it has none for some.
std::vector<Batch> PooledLaunches::batchesOn(const PooledLaunch& work, std::size_t device,
                                             unsigned dimension, std::uint64_t begin,
                                             std::uint64_t end) const {
  return batchesOf(begin, end, [&](const Batch& batch) {
    return fit(
        work, device,
        planPiece(work.launch->request, work.planDevices, device, dimension, batch.begin, batch.end)
            .uses);
  });
}

/// Whether one part may store back what another writes: what each needs is on its way before any
/// of them runs.
bool PooledLaunches::partsRewriteEachOther(const PooledLaunch& work, const LaunchPlan& plan,
                                           unsigned dimension) const {
  std::vector<Piece> parts;
  for (const Piece& piece : plan.pieces) {
    parts.push_back(planPiece(work.launch->request, work.planDevices, piece.device, dimension,
                              piece.box.begin[dimension], piece.box.end[dimension]));
    for (std::size_t before = 0; before + 1 < parts.size(); ++before)
      if (rewriteEachOther(parts[before].uses, parts.back().uses))
        return true;
  }
  return false;
}

/// Over several devices, in the dimension that takes the fewest batches. False if there is none.
bool PooledLaunches::chooseCut(PooledLaunch& work) const {
  const Launch& launch = *work.launch;
  if (work.devices.size() < 2)
    return false;
  std::vector<std::uint64_t> groups;
  groupsOf(launch.range, sharesOf(work), groups);
  const std::size_t count = machine_->devices().size();
  std::size_t fewest = 0;
  for (unsigned d = launch.range.dimensions; d-- > 0;) {
    if (launch.range.groups(d) < 2)
      continue;
    const PlanResult result =
        planCut(launch.request, work.planDevices, d, std::span(groups).subspan(d * count, count));
    const auto* plan = std::get_if<LaunchPlan>(&result);
    if (!plan || !plan->merges.empty() || plan->rung > Rung::Possible || !plan->isCut() ||
        partsRewriteEachOther(work, *plan, d))
      continue;
    std::vector<PooledLaunch::Part> parts;
    std::size_t batches = 0;
    for (const Piece& piece : plan->pieces) {
      parts.push_back(
          {piece.device, batchesOn(work, piece.device, d, piece.box.begin[d], piece.box.end[d])});
      batches = std::max(batches, parts.back().batches.size());
      if (parts.back().batches.empty())
        break;
    }
    if (parts.back().batches.empty() || (fewest > 0 && batches >= fewest))
      continue;
    fewest = batches;
    work.parts = std::move(parts);
    work.dimension = d;
  }
  return fewest > 0;
}

/// All on the one of `devices` that needs the fewest batches. False if none can do it.
bool PooledLaunches::chooseOne(PooledLaunch& work, std::span<const std::size_t> devices) const {
  const NDRange& range = work.launch->range;
  std::size_t fewest = 0;
  for (const std::size_t device : devices)
    for (unsigned d = range.dimensions; d-- > 0;) {
      std::vector<Batch> batches = batchesOn(work, device, d, 0, range.groups(d));
      if (batches.empty() || (fewest > 0 && batches.size() >= fewest))
        continue;
      fewest = batches.size();
      work.dimension = d;
      work.parts = {{device, std::move(batches)}};
    }
  return fewest > 0;
}

/// Bytes of home's memory that one of its batches takes at most.
std::uint64_t PooledLaunches::neededAtHome(const PooledLaunch& work) const {
  const std::size_t home = machine_->home();
  const auto neededBy = [&](std::span<const PieceUse> uses) {
    std::uint64_t bytes = 0;
    for (const CopyWish& wish : wishesOf(work, home, uses).of)
      bytes += leastFor(wish, machine_->homeDevice().bufferAlignment);
    return bytes;
  };
  if (work.parts.empty())
    return neededBy(work.whole);
  std::uint64_t most = 0;
  for (const PooledLaunch::Part& part : work.parts)
    for (const Batch& batch : part.batches)
      if (part.device == home)
        most = std::max(most, neededBy(planPiece(work.launch->request, work.planDevices, home,
                                                 work.dimension, batch.begin, batch.end)
                                           .uses));
  return most;
}

// --- copies of buffers

/// What is asked of the device's copies. Of buffers that it has itself none is.
PooledLaunches::Wishes PooledLaunches::wishesOf(const PooledLaunch& work, std::size_t device,
                                                std::span<const PieceUse> uses) const {
  const Launch& launch = *work.launch;
  const bool takesWindows = !work.planDevices.empty() && work.takesWindows[device];
  Wishes wishes{launch.program->context, {}, {}};
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const Buffer& buffer = *launch.buffers[b];
    if (!buffer.isCopiedTo(*machine_, device))
      continue;
    // Images, and constants, of which there may not be much anyway, are whole.
    const bool isWhole =
        !takesWindows ||
        std::ranges::any_of(launch.request.buffers, [&](const BufferArgument& argument) {
          const KernelSummary& summary = *launch.code->summaries[device];
          return argument.buffer == b &&
                 summary.parameters[argument.parameter].kind != ParameterKind::GlobalBuffer;
        });
    wishes.buffers.push_back(b);
    CopyWish& wish = wishes.of.emplace_back();
    wish.size = buffer.size();
    wish.touched = isWhole ? ByteRange{0, buffer.size()} : touchedBy(uses[b]);
    if (const ByteRange held = buffer.holds(*machine_, device); !held.empty())
      wish.has = held;
  }
  return wishes;
}

/// `taken`: bytes of other copies that are to stay.
std::optional<std::vector<ByteRange>>
PooledLaunches::windowsOf(std::size_t device, const Wishes& wishes, std::uint64_t taken) const {
  const Device& on = machine_->devices()[device];
  const std::uint64_t room = pool_.roomOn(device);
  WindowLimits limits{room - std::min(room, taken), on.largestBuffer, on.bufferAlignment};
  if (std::ranges::any_of(wishes.of,
                          [&](const CopyWish& each) { return each.size > limits.largest; }) &&
      takesLarger(device, wishes.context))
    limits.largest = limits.room;
  // Where not all buffers fit as a whole none gets more than it needs: to make room for others its
  // bytes would have to travel.
  const std::uint64_t all = tracked_.bytesCopiedTo(device);
  std::vector<CopyWish> asked = wishes.of;
  for (CopyWish& wish : asked)
    wish.mayBeWhole = wish.mayBeWhole && wish.size <= limits.largest &&
                      (all <= room || needsWhole(wish, on.bufferAlignment));
  auto windows = chooseWindows(asked, limits);
  const auto isTooLarge = [&](const ByteRange& each) { return each.size() > limits.largest; };
  return windows && std::ranges::none_of(*windows, isTooLarge) ? windows : std::nullopt;
}

/// Drivers tell when a buffer is made, long before there is memory for it. Some promise a quarter
/// of what they take (NVIDIA's).
bool PooledLaunches::takesLarger(std::size_t device, cl_context context) const {
  const auto [answer, isNew] = takesLarger_.try_emplace(device, true);
  if (isNew) {
    const Device& on = machine_->devices()[device];
    cl_int error = CL_SUCCESS;
    const auto asked = Ref<cl_mem>::adopt(
        cl_, cl_.clCreateBuffer(machine_->contextOf(device, context), CL_MEM_READ_WRITE,
                                on.largestBuffer + on.bufferAlignment, nullptr, &error));
    answer->second = error != CL_INVALID_BUFFER_SIZE;
  }
  return answer->second;
}

/// Whether there is room on the device if it holds nothing else.
bool PooledLaunches::fit(const PooledLaunch& work, std::size_t device,
                         std::span<const PieceUse> uses) const {
  Wishes wishes = wishesOf(work, device, uses);
  for (CopyWish& wish : wishes.of)
    wish.has.reset();
  return windowsOf(device, wishes, 0).has_value();
}

/// Waits for them without the lock.
void PooledLaunches::await(Lock& lock, const Provisions& pending) {
  awaitUnlocked(lock, provider_.provide(pending));
}

/// Gives up the device's copy once nobody uses it, or the buffer is gone: who waits for that, since
/// it lies in memory of the program's, is not kept. False: something that it waits for failed.
bool PooledLaunches::giveUp(Lock& lock, PooledLaunch& work, const std::weak_ptr<Buffer>& of,
                            std::size_t device) {
  for (;;) {
    Provisions pending;
    {
      const GoesUnlocked buffer(lock, of.lock());
      const Room room = *buffer
                            ? executor_.copyRoom().release(*work.task, **buffer, device, pending)
                            : Room::There;
      if (room != Room::OnItsWay)
        return room == Room::There;
    }
    await(lock, pending);
  }
}

/// Gives up the least recently used copy of a buffer that the launch does not use. False: there is
/// none.
bool PooledLaunches::giveUpOther(Lock& lock, PooledLaunch& work, std::size_t device) {
  std::weak_ptr<Buffer> least;
  {
    const GoesUnlocked buffers(lock, tracked_.buffers());
    std::uint64_t use = ~std::uint64_t{0};
    for (const std::shared_ptr<Buffer>& buffer : *buffers)
      if (buffer->isCopiedTo(*machine_, device) && !work.uses(*buffer) &&
          !buffer->holds(*machine_, device).empty() && buffer->lastUse < use) {
        least = buffer;
        use = buffer->lastUse;
      }
    if (use == ~std::uint64_t{0})
      return false;
  }
  return giveUp(lock, work, least, device);
}

/// Has the device's copies hold what a batch touches. `why` says why not, if they can't.
void PooledLaunches::makeRoom(Lock& lock, PooledLaunch& work, std::size_t device,
                              std::span<const PieceUse> uses, std::string& why) {
  Launch& launch = *work.launch;
  const Device& on = machine_->devices()[device];
  const std::string lacks = "device " + on.label + " has no room for its buffers";
  why.clear();
  bool mayBeWhole = true;
  for (unsigned pauses = 0;;) {
    Wishes wishes = wishesOf(work, device, uses);
    for (CopyWish& wish : wishes.of)
      wish.mayBeWhole = mayBeWhole || needsWhole(wish, on.bufferAlignment);
    std::uint64_t others = *on.copied;
    for (const CopyWish& wish : wishes.of)
      others -= wish.has ? std::min(others, wish.has->size()) : 0;
    const auto windows = windowsOf(device, wishes, others);
    if (!windows) {
      if (giveUpOther(lock, work, device))
        continue;
      why = lacks;
      return;
    }
    bool hasChanged = false;
    for (std::size_t w = 0; w < windows->size() && !hasChanged; ++w) {
      Buffer& buffer = *launch.buffers[wishes.buffers[w]];
      if (!wishes.of[w].has || *wishes.of[w].has == (*windows)[w])
        continue;
      hasChanged = true;
      if (!giveUp(lock, work, buffer.weak_from_this(), device))
        throw std::runtime_error("what uses a copy failed");
    }
    if (hasChanged)
      continue;
    Provisions pending;
    bool isRefused = false;
    for (std::size_t w = 0; w < windows->size() && !isRefused; ++w) {
      Buffer& buffer = *launch.buffers[wishes.buffers[w]];
      buffer.lastUse = launches_;
      isRefused = buffer.roomOn(*machine_, device, (*windows)[w], pending) == Room::None;
    }
    if (isRefused) {
      mayBeWhole = false;
      if (giveUpOther(lock, work, device))
        continue;
      if (++pauses > mostPauses) {
        why = lacks;
        return;
      }
      lock.unlock();
      std::this_thread::sleep_for(pause);
      lock.lock();
      continue;
    }
    if (pending.empty())
      return;
    await(lock, pending);
  }
}

// --- its way

void PooledLaunches::plan(Task& task, const std::shared_ptr<PooledLaunch>& work) {
  if (work->hasBegun)
    lose(*work, "it can't be done again");
  if (const std::string why = nativeWork_.engage(task, *work->launch); !why.empty()) {
    // Then what is not pooled stays at home, where its queue's order is enough.
    const std::size_t home = machine_->home();
    const bool isAtHome =
        work->parts.empty() || (work->mayStayAtHome && chooseOne(*work, {&home, 1}));
    if (!isAtHome)
      lose(*work, why);
  }
  if (task.mustBePlannedAgain())
    return;
  const auto hold = giver_.hold();
  if (!hold || !giver_.post([this, work] { giveOut(work); })) // which begins once the lock is free
    lose(*work, "there is no thread to be had that would give it out");
  tracked_.reserve(this, work->launch->buffers); // while it gives up the lock
  work->hasBegun = true;
  work->task = task.shared_from_this();
  task.open = true;
  open_ = work;
  scheduler_.suspend();
}

void PooledLaunches::giveOut(const std::shared_ptr<PooledLaunch>& work) {
  Lock lock(shared_.mutex);
  try {
    ++launches_;
    shared_.tracer.launches(*work->task, *work->launch);
    issuer_.issueMarkers(*work->task, true);
    if (work->parts.empty())
      issueWhole(lock, *work);
    else
      issueAll(lock, *work);
    issuer_.issueMarkers(*work->task, false);
  } catch (const std::exception& error) {
    if (!lock.owns_lock())
      lock.lock();
    log(LogLevel::Info, "kernel ", work->launch->code->name, ": a batch failed: ", error.what());
    // A recovery sees to it, and `plan` then. What comes behind is planned before that.
    work->task->planFailed = true;
    shared_.mayHaveLost = true;
    failures_.loseOutputs(*work->task);
  }
  close(*work);
}

/// The parts, batch by batch, on all devices beside each other.
void PooledLaunches::issueAll(Lock& lock, PooledLaunch& work) {
  Launch& launch = *work.launch;
  auto plan = std::make_shared<LaunchPlan>();
  plan->dimension = work.dimension;
  for (const PooledLaunch::Part& part : work.parts)
    plan->pieces.push_back(planPiece(launch.request, work.planDevices, part.device, work.dimension,
                                     part.batches.front().begin, part.batches.back().end));
  launch.plan = plan;
  for (std::size_t device = 0; device < machine_->devices().size(); ++device) {
    Provisions pending;
    if (std::string why = executor_.reserveRing(launch, device, pending); !why.empty())
      throw std::runtime_error(why);
    await(lock, pending);
  }
  const auto hasBatches = [](const PooledLaunch::Part& part) { return !part.batches.empty(); };
  while (std::ranges::any_of(work.parts, hasBatches)) {
    // What they need is all on its way before any of them runs, and waits for none of them.
    std::vector<Piece> pieces;
    for (PooledLaunch::Part& part : work.parts)
      if (hasBatches(part))
        pieces.push_back(bringNext(lock, work, part.device, part.batches));
    for (const Piece& piece : pieces)
      issue(work, piece);
  }
}

/// Takes the first of the batches, or of its halves if there is less room than there was when they
/// were made, and brings what it needs.
Piece PooledLaunches::bringNext(Lock& lock, PooledLaunch& work, std::size_t device,
                                std::vector<Batch>& batches) {
  for (;;) {
    Batch& next = batches.front();
    Piece piece = planPiece(work.launch->request, work.planDevices, device, work.dimension,
                            next.begin, next.end);
    std::string why;
    makeRoom(lock, work, device, piece.uses, why);
    if (why.empty()) {
      bring(work, piece);
      batches.erase(batches.begin());
      return piece;
    }
    if (next.end - next.begin < 2)
      throw std::runtime_error(why);
    const std::uint64_t middle = next.begin + (next.end - next.begin) / 2;
    const Batch second{middle, std::exchange(next.end, middle)};
    batches.insert(batches.begin() + 1, second);
  }
}

/// What a batch needs.
void PooledLaunches::bring(PooledLaunch& work, const Piece& piece) {
  Launch& launch = *work.launch;
  const std::size_t device = piece.device;
  for (const BufferArgument& argument : launch.request.buffers) {
    const MemoryObject& given = *launch.objects[argument.parameter];
    Buffer& buffer = *launch.buffers[argument.buffer];
    if (!buffer.argument(*machine_, device, given.origin, given.size).memory)
      throw std::runtime_error("a sub-buffer can't be aligned");
  }
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    mover_.bring(*work.task, *launch.buffers[b], machine_->devices()[device].node,
                 piece.uses[b].needs);
}

void PooledLaunches::issue(PooledLaunch& work, const Piece& piece) {
  Launch& launch = *work.launch;
  const std::size_t device = piece.device;
  Instruction instruction = executor_.pieceInstruction(launch, piece);
  executor_.collectBefore(launch, piece, instruction.after);
  instruction.traced = shared_.tracer.piece(launch, piece, work.dimension);
  executor_.book(launch, piece, instruction.done);
  work.issued.push_back(device);
  log(LogLevel::Debug, "kernel ", launch.code->name, ": device ", device, " takes groups [",
      piece.box.begin[work.dimension], ",", piece.box.end[work.dimension], ")");
  issuer_.issue(*work.task, device, std::move(instruction));
}

/// By the program's own kernel, on whole copies.
void PooledLaunches::issueWhole(Lock& lock, PooledLaunch& work) {
  Launch& launch = *work.launch;
  std::string why;
  makeRoom(lock, work, machine_->home(), work.whole, why);
  if (!why.empty())
    throw std::runtime_error(why);
  std::vector<HomeUse> uses;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    uses.push_back({launch.buffers[b], work.whole[b].needs, work.whole[b].writes});
  homeCommands_.plan(*work.task, uses, executor_.homeCall(*work.task, launch));
  work.issued.push_back(machine_->home());
}

/// Ends the launch, and what it should have written is lost.
void PooledLaunches::lose(const PooledLaunch& work, const std::string& why) {
  log(LogLevel::Error, "kernel ", work.launch->code->name,
      ": a launch on pooled buffers failed: ", why);
  shared_.mayHaveLost = true;
  throw LostBytes();
}

/// Everything is issued: the task may retire, and others may plan again.
void PooledLaunches::close(PooledLaunch& work) {
  const auto task = std::exchange(work.task, nullptr);
  work.promise.reset();
  task->open = false;
  open_.reset();
  tracked_.leave(this);
  scheduler_.resume();
  task->stream->wake.notify_all();
  shared_.progress.notify_all();
  scheduler_.pump();
}

void PooledLaunches::awaitNone(Lock& lock) const {
  shared_.progress.wait(lock, [&] { return !open_; });
}

void PooledLaunches::count(Task& task, const PooledLaunch& work) const {
  task.isUntold =
      task.isUntold || task.status < 0; // programs that look at no event wait for the queue
  const Launch& launch = *work.launch;
  KernelStats& stats = *launch.code->stats;
  KernelStats::PerRange& range = stats.ranges[launch.key.range];
  ++range.launches;
  const auto isElsewhere = [&](std::size_t device) { return device != machine_->home(); };
  if (task.status < 0)
    range.countUnsplit("it ended with error " + std::to_string(task.status));
  else if (std::ranges::none_of(work.issued, isElsewhere))
    range.countUnsplit(launch.reason.empty() ? "one device does it, on pooled buffers"
                                             : launch.reason);
  else {
    ++stats.splitLaunches;
    ++range.splitLaunches;
    range.dimension = work.dimension;
    stats.rung = static_cast<int>(launch.plan->rung);
  }
}

} // namespace libsplit::runtime
