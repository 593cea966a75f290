// From clEnqueueNDRangeKernel to pieces on devices, and back to measurements.
//
// A launch that can't be split, or that is not worth it, goes to the driver as it came if nothing
// is in its way. Otherwise a snapshot is taken (arguments may change and objects may go as soon as
// the call returns) and a task made of it. When the task is planned the shares become counts of
// work-groups, the planner's regions become transfers, and each piece becomes an instruction of its
// device's lane.
#include "runtime/launch.h"

#include "runtime/known_speeds.h"
#include "runtime/log.h"
#include "runtime/piece_range.h"
#include "runtime/session.h"

#include "analysis-pass/summary/partition_argument.h"
#include "solver/share_solver.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace libsplit::runtime {

namespace {

/// While a kernel's shares are still being found, its launches are measured one at a time.
constexpr std::uint64_t learningSplits = 6;
/// … after which a launch's load and regions are known well enough to judge a cycle by.
constexpr std::uint64_t knownSplits = 3;

std::string rangeName(const NDRange& range, bool localGiven) {
  auto list = [&](const std::array<std::uint64_t, 3>& values) {
    std::string text;
    for (unsigned d = 0; d < range.dimensions; ++d)
      text += (d ? "x" : "") + std::to_string(values[d]);
    return text;
  };
  std::string name = list(range.global) + (localGiven ? "/" + list(range.local) : "");
  if (range.offset != std::array<std::uint64_t, 3>{0, 0, 0})
    name += "+" + list(range.offset);
  return name;
}

NDRange rangeOf(const LaunchArguments& arguments) {
  NDRange range;
  range.dimensions = arguments.dimensions;
  for (unsigned d = 0; d < range.dimensions; ++d) {
    range.global[d] = arguments.global[d];
    range.offset[d] = arguments.offset ? arguments.offset[d] : 0;
    range.local[d] = arguments.local ? arguments.local[d] : cutUnit(d, range.global[d]);
  }
  return range;
}

std::vector<const Directory*> directoriesOf(const Launch& launch) {
  std::vector<const Directory*> directories;
  for (const auto& buffer : launch.buffers)
    directories.push_back(&buffer->directory());
  return directories;
}

bool isNonUniform(const NDRange& range) {
  return !range.uniform(0) || !range.uniform(1) || !range.uniform(2);
}

std::uint64_t itemsOf(const NDRange& range) {
  return range.global[0] * range.global[1] * range.global[2];
}

std::uint64_t groupItems(const NDRange& range) {
  return range.local[0] * range.local[1] * range.local[2];
}

/// Devices of which the driver tells the same in all that a guess of their speed rests on.
bool isAlike(const Device& a, const Device& b) {
  return a.isGpu == b.isGpu && a.computeUnits == b.computeUnits && a.megahertz == b.megahertz;
}

bool fits(const std::array<std::uint64_t, 3>& local, const std::vector<std::size_t>& limits) {
  for (std::size_t d = 0; d < 3 && d < limits.size(); ++d)
    if (local[d] > limits[d])
      return false;
  return true;
}

} // namespace

std::vector<BufferUse> Session::usesOf(const Kernel& kernel) const {
  std::vector<BufferUse> uses;
  const std::vector<bool>& writes = kernel.code->writes;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const Argument& argument = kernel.arguments[i];
    if (argument.memory.expired())
      continue;
    cl_mem handle = nullptr;
    std::memcpy(&handle, argument.value.data(), sizeof handle);
    uses.push_back({handle, i >= writes.size() || writes[i]});
  }
  return uses;
}

cl_int Session::launchNative(const Command& command, const LaunchArguments& arguments) {
  return cl_.clEnqueueNDRangeKernel(command.queue, arguments.kernel, arguments.dimensions,
                                    arguments.offset, arguments.global, arguments.local,
                                    command.waitCount, command.waitList, command.event);
}

std::string Session::whyRangeNotSplittable(const Kernel& kernel,
                                           const LaunchArguments& arguments) const {
  if (arguments.dimensions < 1 || arguments.dimensions > 3 || !arguments.global)
    return "the NDRange is not valid";
  for (unsigned d = 0; d < arguments.dimensions; ++d) {
    std::size_t global = arguments.global[d], offset = arguments.offset ? arguments.offset[d] : 0;
    if (global == 0 || offset + global < offset || (arguments.local && arguments.local[d] == 0))
      return "the NDRange is empty or not valid";
  }
  const KernelSummary& summary = *kernel.code->summaries[machine_->home()];
  NDRange range = rangeOf(arguments);
  if (!arguments.local && summary.dependsOnGroups)
    return "the local size is left to the driver, and the kernel's result depends on it";
  if (summary.requiredLocal[0] != 0 && (!arguments.local || summary.requiredLocal != range.local))
    return "the local size is not the one that the kernel requires";
  if (arguments.local && isNonUniform(range)) {
    if (!machine_->homeDevice().nonUniformGroups)
      return "the local size does not divide the global size";
    const std::string& options = kernel.code->origin->options;
    if (options.find("-cl-std=CL2") == std::string::npos &&
        options.find("-cl-std=CL3") == std::string::npos)
      return "the local size does not divide the global size";
  }
  if (arguments.local && (groupItems(range) > kernel.code->kernels[machine_->home()]->maxGroup ||
                          !fits(range.local, machine_->homeDevice().maxItems)))
    return "the work-groups are too large for the device";
  if (range.groups() < 2)
    return "there is only one work-group";
  return {};
}

std::string Session::whyNotSplittable(Lock& lock, const std::shared_ptr<Stream>& stream,
                                      const std::shared_ptr<Kernel>& kernel,
                                      const LaunchArguments& arguments) {
  KernelCode& code = *kernel->code;
  if (options_.policy.kind == Policy::Kind::Off)
    return "LIBSPLIT_POLICY=off";
  if (code.state == KernelCode::State::New || code.state == KernelCode::State::Preparing)
    prepare(lock, stream, kernel);
  if (code.state == KernelCode::State::Preparing)
    return "its analysis is not ready yet";
  if (code.state == KernelCode::State::Unsplittable)
    return code.reason;
  if (stream->device != home_)
    return "the queue is not on the program's own device";
  if (std::string why = whyRangeNotSplittable(*kernel, arguments); !why.empty())
    return why;
  const KernelSummary& summary = *code.summaries[machine_->home()];
  if (summary.parameters.size() != kernel->arguments.size())
    return "the analysis saw other parameters";
  for (std::size_t i = 0; i < kernel->arguments.size(); ++i) {
    const Argument& argument = kernel->arguments[i];
    const Parameter& parameter = summary.parameters[i];
    const std::string name = "argument `" + parameter.name + "` ";
    const std::shared_ptr<MemoryObject> object = argument.memory.lock();
    if (!argument.isSet)
      return name + "is not set";
    switch (parameter.kind) {
    case ParameterKind::GlobalBuffer:
    case ParameterKind::ConstantBuffer:
      if (!object || !object->buffer)
        return name + "is no buffer that libsplit knows";
      if (!object->buffer->homeOnly().empty())
        return name + "can't leave its device: " + object->buffer->homeOnly();
      if (object->buffer->maps > 0)
        return name + "is mapped";
      break;
    case ParameterKind::LocalBuffer:
      if (!argument.isLocal())
        return name + "is not local memory";
      break;
    case ParameterKind::Scalar:
      if (argument.value.size() != parameter.size)
        return name + "has another size than its type";
      break;
    default:
      return name + "is neither buffer nor value";
    }
  }
  return {};
}

std::shared_ptr<Launch> Session::snapshot(const Kernel& kernel, const LaunchArguments& arguments) {
  auto launch = std::make_shared<Launch>();
  launch->program = kernel.program;
  launch->code = kernel.code;
  launch->clone = kernel.clone;
  launch->arguments = kernel.arguments;
  launch->range = rangeOf(arguments);
  launch->localGiven = arguments.local != nullptr;
  launch->key.range = rangeName(launch->range, launch->localGiven);
  for (const Argument& argument : launch->arguments) {
    launch->objects.push_back(argument.memory.lock());
    if (!launch->objects.back())
      continue;
    cl_mem handle = nullptr;
    std::memcpy(&handle, argument.value.data(), sizeof handle);
    launch->keeps.push_back(Ref<cl_mem>::retain(cl_, handle));
  }
  LaunchRequest& request = launch->request;
  request.range = launch->range;
  request.arguments.resize(launch->arguments.size());
  for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
    const Argument& argument = launch->arguments[i];
    const std::shared_ptr<MemoryObject>& object = launch->objects[i];
    if (!object || !object->buffer) {
      request.arguments[i].bytes = argument.value;
      continue;
    }
    request.arguments[i].bufferSize = object->size;
    auto& buffers = launch->buffers;
    auto found = std::find(buffers.begin(), buffers.end(), object->buffer);
    auto index = static_cast<std::size_t>(found - buffers.begin());
    if (found == buffers.end())
      buffers.push_back(object->buffer);
    request.buffers.push_back({static_cast<unsigned>(i), index, object->origin});
  }
  request.bufferCount = launch->buffers.size();
  launch->key.classes = classesOf(kernel.code->workScalars, request.arguments);
  return launch;
}

/// Whether there is anything about the launch that a driver answers with an error. It must get that
/// launch in the call itself, and not from a lane later.
bool Session::driverMayRefuse(const Kernel& kernel, const Stream& stream,
                              const LaunchArguments& arguments) const {
  if (arguments.dimensions < 1 || arguments.dimensions > 3 || !arguments.global ||
      std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                  [](const Argument& argument) { return !argument.isSet; }))
    return true;
  auto limit = [&](cl_kernel_work_group_info name, std::size_t size, void* value) {
    return cl_.clGetKernelWorkGroupInfo(kernel.handle, stream.device, name, size, value, nullptr) ==
           CL_SUCCESS;
  };
  std::size_t required[3] = {0, 0, 0}, maxGroup = 0, items = 1;
  if (!limit(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required) ||
      !limit(CL_KERNEL_WORK_GROUP_SIZE, sizeof maxGroup, &maxGroup))
    return true;
  auto maxItems =
      arrayProperty<std::size_t>(cl_.clGetDeviceInfo, stream.device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  for (unsigned d = 0; d < arguments.dimensions; ++d) {
    const std::size_t global = arguments.global[d];
    const std::size_t offset = arguments.offset ? arguments.offset[d] : 0;
    if (global == 0 || offset + global < offset)
      return true;
    if (!arguments.local) {
      if (required[0] != 0)
        return true;
      continue;
    }
    const std::size_t local = arguments.local[d];
    if (local == 0 || global % local != 0 || (required[0] != 0 && local != required[d]) ||
        (d < maxItems.size() && local > maxItems[d]))
      return true;
    items *= local;
  }
  return items > maxGroup;
}

cl_int Session::launch(const Command& command, const LaunchArguments& arguments) {
  {
    Lock lock(mutex_);
    auto found = kernels_.find(arguments.kernel);
    if (found != kernels_.end() && quiet() &&
        found->second->code->state == KernelCode::State::Unsplittable) {
      ++found->second->code->stats->launches;
      if (trace_)
        traceNative(*found->second);
      lock.unlock();
      return launchNative(command, arguments);
    }
    std::shared_ptr<Kernel> kernel = found == kernels_.end() ? nullptr : found->second;
    auto stream = streamOf(lock, command.queue);
    if (!active() || !stream || !kernel) {
      if (kernel)
        ++kernel->code->stats->launches;
      lock.unlock();
      return launchNative(command, arguments);
    }
    KernelStats& stats = *kernel->code->stats;
    ++stats.launches;
    std::string reason = whyNotSplittable(lock, stream, kernel, arguments);
    std::shared_ptr<Launch> launch;
    if (reason.empty()) {
      launch = snapshot(*kernel, arguments);
      if (stream->idle())
        decide(*stream, *launch);
      if (launch->action == ShareController::Action::Native)
        reason = "it is not faster split";
    }
    if (!reason.empty()) {
      stats.reason = reason;
      CompletionPtr noted;
      if (goesNative(lock, command, usesOf(*kernel), &noted)) {
        if (trace_)
          traceNative(*kernel);
        lock.unlock();
        if (!noted)
          return launchNative(command, arguments);
        return callNoted(command, noted,
                         [&](cl_bool, cl_uint count, const cl_event* list, cl_event* event) {
                           return cl_.clEnqueueNDRangeKernel(command.queue, arguments.kernel,
                                                             arguments.dimensions, arguments.offset,
                                                             arguments.global, arguments.local,
                                                             count, list, event);
                         });
      }
    } else if (!isValid(command, {})) {
      lock.unlock();
      return launchNative(command, arguments);
    }
    if (!kernel->clone) {
      cl_int error = CL_SUCCESS;
      auto clone = std::make_shared<LaneKernel>();
      clone->kernel = Ref<cl_kernel>::adopt(
          cl_, cl_.clCreateKernel(kernel->program->handle, kernel->code->name.c_str(), &error));
      if (error != CL_SUCCESS) {
        waitIdle(lock, stream);
        lock.unlock();
        return launchNative(command, arguments);
      }
      kernel->clone = clone;
    }
    if (!launch) {
      if (driverMayRefuse(*kernel, *stream, arguments)) {
        waitIdle(lock, stream);
        lock.unlock();
        return launchNative(command, arguments);
      }
      launch = snapshot(*kernel, arguments);
    }
    launch->clone = kernel->clone;
    launch->reason = reason;
    if (options_.verify && launch->reason.empty())
      return launchVerified(command, launch);
    auto task = newTask(stream, command);
    attachEvent(*task, command);
    task->isLaunch = true;
    task->plan = [this, launch](Task& planned) { planLaunch(planned, launch); };
    task->retired = [this, launch](Task& ended) { observe(ended, *launch); };
    submit(task);
    return CL_SUCCESS;
  }
}

void Session::decide(Stream& stream, Launch& launch) {
  LaunchHistory& history = launch.code->histories.at(launch.key);
  if (!history.controller) {
    ShareController::Setup setup;
    setup.policy = options_.policy;
    setup.home = machine_->home();
    setup.minLaunchSeconds = options_.minLaunchSeconds;
    for (std::size_t i = 0; i < machine_->devices().size(); ++i) {
      const Device& device = machine_->devices()[i];
      const auto& kernel = launch.code->kernels[i];
      bool canRun =
          device.participates && kernel &&
          (!launch.localGiven || (groupItems(launch.range) <= kernel->maxGroup &&
                                  (device.nonUniformGroups || !isNonUniform(launch.range))));
      setup.speeds.push_back(
          canRun ? guessedSpeed(device.isGpu, device.computeUnits, device.megahertz) : 0);
      setup.likeHome.push_back(isAlike(device, machine_->homeDevice()));
    }
    const auto items = static_cast<double>(itemsOf(launch.range));
    setup.prior = knownSpeeds_->prior(launch.code->identity, launch.key, items);
    history.controller = std::make_unique<ShareController>(std::move(setup));
    history.record = knownSpeeds_->record(launch.code->identity, launch.key, items);
  }
  using Action = ShareController::Action;
  const LaunchCycle::Ruling ruling = rulingOf(stream, launch, history);
  launch.ticket = ruling.ticket;
  switch (ruling.mode) {
  case LaunchCycle::Mode::Free:
    return adopt(launch, history.controller->next(canChunk(launch)));
  case LaunchCycle::Mode::Split:
    return adopt(launch, {Action::Split, ruling.shares});
  case LaunchCycle::Mode::AtHome:
    return adopt(launch, {Action::Measure, {}});
  case LaunchCycle::Mode::Native:
    return adopt(launch, {Action::Native, {}});
  }
}

void Session::adopt(Launch& launch, const ShareController::Decision& decision) {
  launch.action = decision.action;
  launch.shares.assign(decision.shares.begin(), decision.shares.end());
}

void Session::planLaunch(Task& task, const std::shared_ptr<Launch>& launch) {
  std::string why = launch->reason;
  if (why.empty()) {
    if (!launch->action)
      decide(*task.stream, *launch);
    if (launch->action == ShareController::Action::Chunks) {
      why = planChunks(task, launch);
      if (task.mustBePlannedAgain())
        return;
      if (why.empty()) {
        ++launch->code->stats->ranges[launch->key.range].launches;
        return;
      }
      log(LogLevel::Debug, "kernel ", launch->code->name, ": not in chunks: ", why);
      why.clear();
      ShareController& controller = *launch->code->histories.at(launch->key).controller;
      controller.refuseChunks();
      adopt(*launch, controller.next());
    }
    if (launch->action == ShareController::Action::Native)
      why = "it is not faster split";
    else
      why = planSplit(task, launch);
  }
  if (task.mustBePlannedAgain())
    return;
  ++launch->code->stats->ranges[launch->key.range].launches;
  if (why.empty())
    return;
  launch->code->stats->reason = why;
  launch->wasSplit = false;
  log(LogLevel::Debug, "kernel ", launch->code->name, " runs unsplit: ", why);
  planUnsplit(task, launch);
}

std::vector<PlanDevice> Session::planDevices(const Launch& launch) const {
  std::vector<PlanDevice> devices;
  for (std::size_t i = 0; i < machine_->devices().size(); ++i) {
    const Device& device = machine_->devices()[i];
    devices.push_back({device.node, launch.code->summaries[i], device.isGpu});
  }
  return devices;
}

/// What the cycle of launches that it is part of asks of the launch; where nothing moves, it is
/// free.
LaunchCycle::Ruling Session::rulingOf(Stream& stream, const Launch& launch,
                                      LaunchHistory& history) {
  if (options_.policy.kind != Policy::Kind::Auto || machine_->nodes() < 2)
    return {};
  std::size_t id = std::hash<const void*>()(launch.code.get());
  auto mix = [&](std::size_t value) { id = id * 0x9E3779B97F4A7C15 + value; };
  mix(std::hash<std::string>()(launch.key.range));
  for (int each : launch.key.classes)
    mix(static_cast<std::size_t>(each));
  for (const BufferArgument& argument : launch.request.buffers) {
    mix(std::hash<const void*>()(launch.buffers[argument.buffer].get()));
    mix(argument.origin);
  }
  const unsigned dimension = history.dimension.value_or(0);
  const std::uint64_t groups = launch.range.groups(dimension);
  LaunchCycle::Passing passing;
  passing.id = id;
  passing.isKnown = history.dimension && history.splits >= knownSplits;
  passing.secondsPerByte = secondsPerByte_;
  passing.home = machine_->home();
  passing.own = [&] { return history.controller->split().shares; };
  passing.profile = [&](solver::LoadProfile& profile) {
    return history.controller->describe(profile, groups);
  };
  passing.section = [&] {
    const double half = LaunchCycle::sectionPart / 2 * static_cast<double>(groups);
    const auto begin = static_cast<std::uint64_t>(static_cast<double>(groups) / 2 - half);
    const auto end =
        std::max(begin + 1, static_cast<std::uint64_t>(static_cast<double>(groups) / 2 + half));
    const Piece piece = planPiece(launch.request, planDevices(launch), machine_->home(), dimension,
                                  begin, std::min(end, groups));
    std::vector<SectionUse> uses;
    for (std::size_t b = 0; b < launch.buffers.size(); ++b)
      uses.push_back({launch.buffers[b].get(), piece.uses[b].needs, piece.uses[b].writes});
    return uses;
  };
  return stream.cycle.next(passing);
}

void Session::noteMoving(std::uint64_t bytes, double seconds) {
  if (bytes < 4096 || !(seconds > 0))
    return;
  const double each = seconds / static_cast<double>(bytes);
  secondsPerByte_ = secondsPerByte_ > 0 ? 0.9 * secondsPerByte_ + 0.1 * each : each;
}

std::shared_ptr<const LaunchPlan> Session::choosePlan(const Task& task, Launch& launch,
                                                      std::span<const double> shares,
                                                      std::string& why) {
  LaunchHistory& history = launch.code->histories.at(launch.key);
  LaunchHistory::PlanKey key;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::shared_ptr<MemoryObject>& object = launch.objects[i];
    key.values.push_back(object ? std::vector<std::byte>() : launch.arguments[i].value);
    key.sizes.push_back(object ? object->size : 0);
  }
  for (const BufferArgument& argument : launch.request.buffers)
    key.buffers.push_back({argument.buffer, argument.origin});
  key.shares.assign(shares.begin(), shares.end());
  // On one memory nothing depends on regions; at home alone, nothing is cut by them.
  const bool byContents = machine_->nodes() > 1 && !launch.withoutContents &&
                          launch.action != ShareController::Action::Measure;
  for (const BufferArgument& argument : launch.request.buffers)
    if (byContents && launch.code->loaded[argument.parameter])
      key.versions.push_back(launch.buffers[argument.buffer]->directory().version());
  key.withoutInspections = launch.withoutInspections;
  if (auto plan = history.findPlan(key)) {
    if (!key.versions.empty() && launch.contentsRounds == 0) {
      history.budget.saved();
      history.inspectionBudget.saved();
    }
    return plan;
  }
  LaunchContents contents(*machine_, task, launch);
  launch.request.contents = key.versions.empty() ? nullptr : &contents;

  const std::vector<PlanDevice> devices = planDevices(launch);
  const std::vector<const Directory*> directories = directoriesOf(launch);

  std::shared_ptr<const LaunchPlan> best;
  std::tuple<int, bool, std::uint64_t, unsigned> bestScore;
  auto consider = [&](unsigned d) {
    if (launch.range.groups(d) < 2)
      return;
    auto groups = solver::roundToGroups(shares, launch.range.groups(d));
    PlanResult result = planCut(launch.request, devices, d, groups);
    if (auto* reason = std::get_if<Reason>(&result)) {
      if (why.empty())
        why = toString(*reason);
      return;
    }
    LaunchPlan& plan = std::get<LaunchPlan>(result);
    // Merges only where no dimension does without. Few groups make coarse shares; then what must
    // move; then the slowest dimension, whose slabs are contiguous.
    std::tuple<int, bool, std::uint64_t, unsigned> score{
        plan.merges.empty() ? 0 : static_cast<int>(plan.rung),
        launch.range.groups(d) < 8 * devices.size(), bytesToMove(plan, devices, directories),
        2 - d};
    if (!best || score < bestScore) {
      best = std::make_shared<const LaunchPlan>(std::move(plan));
      bestScore = score;
    }
  };
  if (history.dimension)
    consider(*history.dimension);
  for (unsigned d = 0; d < launch.range.dimensions && !best; ++d)
    consider(d);
  if (!history.dimension || (best && !best->merges.empty()))
    for (unsigned d = 0; d < launch.range.dimensions; ++d)
      if (!best || best->dimension != d)
        consider(d);
  launch.request.contents = nullptr;
  launch.demands = contents.demands();
  launch.inspections = contents.inspections();
  if (!launch.demands.empty() || !launch.inspections.empty())
    return nullptr;
  if (!best) {
    if (why.empty())
      why = "there is only one work-group";
    return nullptr;
  }
  history.dimension = best->dimension;
  history.keepPlan(std::move(key), best);
  return best;
}

/// The plan, or null: `why` says why there is none, or the task waits for what planning it takes.
std::shared_ptr<const LaunchPlan> Session::planOrFetch(Task& task,
                                                       const std::shared_ptr<Launch>& launch,
                                                       std::span<const double> shares,
                                                       std::string& why) {
  for (;;) {
    auto plan = choosePlan(task, *launch, shares, why);
    const bool inspects = !launch->inspections.empty();
    if (plan || (launch->demands.empty() && !inspects))
      return plan;
    if ((!inspects || inspectionsPay(*launch)) && fetchContents(task, launch))
      return nullptr;
    // Then with less.
    (inspects ? launch->withoutInspections : launch->withoutContents) = true;
    why.clear();
  }
}

std::string Session::planSplit(Task& task, const std::shared_ptr<Launch>& launch) {
  if (std::string why = engage(task, *launch); !why.empty() || task.mustBePlannedAgain())
    return why;
  std::vector<double> shares = launch->shares;
  if (launch->action == ShareController::Action::Measure) {
    shares.assign(machine_->devices().size(), 0.0);
    shares[machine_->home()] = 1;
  }
  std::string why;
  auto plan = planOrFetch(task, launch, shares, why);
  if (!plan)
    return why;
  if (why = reserve(*launch, *plan); !why.empty())
    return why;
  LaunchHistory& history = launch->code->histories.at(launch->key);
  launch->wasSplit = plan->pieces.size() > 1 || plan->pieces[0].device != machine_->home();
  task.learning = options_.policy.kind != Policy::Kind::Static &&
                  options_.policy.kind != Policy::Kind::Single && history.splits < learningSplits;
  if (launch->wasSplit)
    ++history.splits;
  launch->plan = plan;
  if (machine_->nodes() > 1)
    launch->bytesToMove = bytesToMove(*plan, planDevices(*launch), directoriesOf(*launch));
  log(LogLevel::Debug, "kernel ", launch->code->name, ": ", [&] { return toString(*plan); });
  issuePlan(task, launch, plan);
  return {};
}

void Session::observe(Task& task, Launch& launch) {
  if (task.status < 0) {
    log(LogLevel::Error, "kernel ", launch.code->name, " ended with error ", task.status,
        launch.wasSplit ? " when split; it is not split again" : "");
    if (launch.wasSplit) {
      launch.code->state = KernelCode::State::Unsplittable;
      launch.code->reason = "a piece of it failed with error " + std::to_string(task.status);
    }
    return;
  }
  if (!launch.plan)
    return;
  finishMerges(launch);
  auto start = std::max(task.planned, task.stream->lastRetired);
  double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (launch.isChunked) {
    observeChunks(launch, wall);
    return;
  }
  const std::size_t devices = machine_->devices().size();
  std::vector<solver::DeviceSample> samples(devices);
  bool complete = true;
  for (const Launch::Issued& issued : launch.issued) {
    auto interval = issued.kernel->interval();
    complete = complete && interval;
    double seconds = interval ? interval->seconds() : 0;
    double transferSeconds = 0;
    for (const CompletionPtr& transfer : issued.transfers)
      if (auto moved = transfer->interval())
        transferSeconds += moved->seconds();
    samples[issued.device] = {issued.groupBegin, issued.groupEnd, seconds + transferSeconds,
                              transferSeconds};
  }
  // Devices that share a processor take longer together than any of them; but where tasks retire
  // together, what passed since the one before says nothing.
  for (const solver::DeviceSample& sample : samples)
    wall = std::max(wall, sample.seconds);
  if (launch.ticket.phase != 0 && complete)
    task.stream->cycle.took(launch.ticket, wall);
  const std::uint64_t groups = launch.range.groups(launch.plan->dimension);
  LaunchHistory& history = launch.code->histories.at(launch.key);
  if (!launch.wasSplit) {
    // What it took to bring the data home says nothing of a program whose data always lies there.
    const auto& home = samples[machine_->home()];
    launch.code->stats->ranges[launch.key.range].homeSeconds = home.seconds;
    if (history.controller)
      history.controller->observeHome(complete ? home.seconds - home.transferSeconds : wall,
                                      groups);
    remember(launch, history, groups);
    return;
  }
  std::vector<double> shares, seconds;
  double moving = 0;
  for (const solver::DeviceSample& sample : samples) {
    shares.push_back(static_cast<double>(sample.groupEnd - sample.groupBegin) /
                     static_cast<double>(groups));
    seconds.push_back(sample.seconds);
    moving += sample.transferSeconds;
  }
  countSplit(launch, wall, std::move(shares), std::move(seconds));
  if (history.controller && complete)
    history.controller->observeSplit(samples, groups, wall);
  noteMoving(launch.bytesToMove, moving);
  remember(launch, history, groups);
}

/// Notes in the statistics what a split launch was: shares and seconds by device.
void Session::countSplit(const Launch& launch, double wall, std::vector<double> shares,
                         std::vector<double> seconds) {
  KernelStats& stats = *launch.code->stats;
  KernelStats::PerRange& range = stats.ranges[launch.key.range];
  ++stats.splitLaunches;
  ++range.splitLaunches;
  stats.rung = static_cast<int>(launch.plan->rung);
  range.dimension = launch.plan->dimension;
  range.wallSeconds = wall;
  range.lastShares = std::move(shares);
  range.lastSeconds = std::move(seconds);
}

/// Tells other launches, and later runs, what this one's history knows by now.
void Session::remember(const Launch& launch, LaunchHistory& history, std::uint64_t groups) {
  if (!history.controller || !history.record)
    return;
  SpeedRecord& record = *history.record;
  const double groupItems = record.items / static_cast<double>(groups);
  std::span<const double> speeds = history.controller->speeds();
  for (std::size_t i = 0; i < record.secondsPerItem.size(); ++i)
    if (speeds[i] > 0)
      record.secondsPerItem[i] = 1 / (speeds[i] * groupItems);
  const double home = history.controller->homeSeconds();
  if (home > 0)
    record.homeSeconds = home;
  double& homePerItem = record.secondsPerItem[machine_->home()];
  if (homePerItem == 0)
    homePerItem = home / record.items;
  if (history.controller->splitSeconds() > 0)
    record.splitSeconds = history.controller->splitSeconds();
  knownSpeeds_->touch(record);
  log(LogLevel::Debug, "kernel ", launch.code->name, ": home ", record.homeSeconds, " s, split ",
      record.splitSeconds, " s");
}

} // namespace libsplit::runtime
