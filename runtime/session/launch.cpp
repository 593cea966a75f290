// clEnqueueNDRangeKernel.
//
// A launch that can't be split, or that is not worth it, goes to the driver as it came if nothing
// is in its way. Otherwise a snapshot is taken (arguments may change and objects may go as soon as
// the call returns) and a task made of it. When the task is planned the shares become counts of
// work-groups, the planner's regions become transfers (plan_launch.cpp), and each piece becomes an
// instruction of its device's lane (executor.h). When it retires it is measured
// (observe_launch.cpp).
#include "runtime/session/launch.h"

#include "runtime/core/log.h"
#include "runtime/plan/piece_range.h"
#include "runtime/session/session.h"

#include <algorithm>

namespace libsplit::runtime {

namespace {

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

} // namespace

std::vector<BufferUse> Session::usesOf(const Kernel& kernel) const {
  std::vector<BufferUse> uses;
  const std::vector<bool>& writes = kernel.code->writes;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    if (!kernel.memoryOf(i))
      continue;
    cl_mem handle = nullptr;
    std::memcpy(&handle, kernel.arguments[i].value.data(), sizeof handle);
    uses.push_back({handle, i >= writes.size() || writes[i]});
  }
  return uses;
}

/// `noted`, if any, is told of its end.
cl_int Session::launchNative(const Command& command, const LaunchArguments& arguments,
                             const CompletionPtr& noted) {
  auto call = [&](cl_bool, cl_uint count, const cl_event* list, cl_event* event) {
    if (command.type == CL_COMMAND_TASK)
      return cl_.clEnqueueTask(command.queue, arguments.kernel, count, list, event);
    return cl_.clEnqueueNDRangeKernel(command.queue, arguments.kernel, arguments.dimensions,
                                      arguments.offset, arguments.global, arguments.local, count,
                                      list, event);
  };
  return noted ? callNoted(command, noted, call)
               : call(CL_FALSE, command.waitCount, command.waitList, command.event);
}

namespace {

std::uint64_t itemsOf(const LaunchArguments& arguments) {
  std::uint64_t items = 1;
  for (unsigned d = 0; d < arguments.dimensions; ++d)
    items *= arguments.global[d];
  return items;
}

} // namespace

/// Counts a launch for which preparing is not worth it yet. Whether it should be timed.
bool Session::noteUnprepared(const Kernel& kernel, const LaunchArguments& arguments) {
  const bool isRange = arguments.dimensions >= 1 && arguments.dimensions <= 3 && arguments.global;
  return isRange && preparer_.launches(kernel, itemsOf(arguments));
}

/// As it came, and noting how long it takes. On a queue that tells no times that is from when it
/// was enqueued, or from when the launch before was over, until its end gets known here.
cl_int Session::launchTimed(Lock& lock, const Command& command, const LaunchArguments& arguments,
                            const Kernel& kernel, bool isProfiled) {
  const std::uint64_t items = itemsOf(arguments);
  kernel.code->times.timing(items);
  lock.unlock();
  cl_event event = nullptr;
  Command own = command;
  own.event = &event;
  const auto begin = std::chrono::steady_clock::now();
  const cl_int status = launchNative(own, arguments);
  if (status != CL_SUCCESS)
    return status;
  auto timed = command.event ? Ref<cl_event>::retain(cl_, event) : Ref<cl_event>::adopt(cl_, event);
  if (command.event)
    *command.event = event;
  cl_.clFlush(command.queue); // the end of what was not begun would never come
  callOnEnd(event, [this, timed, begin, isProfiled, items, code = kernel.code,
                    build = kernel.program->build] {
    const auto now = std::chrono::steady_clock::now();
    auto at = [&](cl_profiling_info name) {
      return property<cl_ulong>(cl_.clGetEventProfilingInfo, timed.get(), name);
    };
    const cl_ulong start = isProfiled ? at(CL_PROFILING_COMMAND_START) : 0;
    const cl_ulong end = isProfiled ? at(CL_PROFILING_COMMAND_END) : 0;
    Lock done(mutex_);
    const std::chrono::duration<double> passed = now - std::max(begin, lastTimedEnd_);
    lastTimedEnd_ = now;
    preparer_.launchTook(*code, *build, items,
                         end > start ? 1e-9 * static_cast<double>(end - start) : passed.count());
  });
  return status;
}

/// For a launch whose error the application must get in this call, if the driver finds one: nothing
/// is pending then, and its bytes are at home.
cl_int Session::launchSettled(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                              const Kernel& kernel, const LaunchArguments& arguments) {
  const cl_int status = settle(lock, enqueuing, command, usesOf(kernel));
  lock.unlock();
  if (status != CL_SUCCESS)
    return status;
  return launchNative(command, arguments);
}

/// False if the driver makes no second object of the kernel.
bool Session::makeClone(Kernel& kernel) {
  if (kernel.clone)
    return true;
  cl_int error = CL_SUCCESS;
  auto clone = std::make_shared<LaneKernel>();
  clone->kernel = Ref<cl_kernel>::adopt(
      cl_, cl_.clCreateKernel(kernel.program->handle, kernel.code->name.c_str(), &error));
  if (error != CL_SUCCESS)
    return false;
  kernel.clone = clone;
  return true;
}

/// One work-group can't be split; but all may be asked to run on one device, or other launches of
/// the kernel may have shown that another device runs it faster.
bool Session::mayRunElsewhere(const Kernel& kernel) const {
  return options_.policy.kind == Policy::Kind::Single ||
         (options_.policy.kind == Policy::Kind::Auto && kernel.code->stats->splitLaunches > 0);
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
  constexpr std::uint64_t mostItems = (std::uint64_t{1} << 31) - 1;
  if (summary.idsFromGroups &&
      *std::max_element(range.global.begin(), range.global.end()) > mostItems)
    return "the kernel's group ids may not fit in 32 bits";
  if (!arguments.local && summary.dependsOnGroups)
    return "the local size is left to the driver, and the kernel's result depends on it";
  if (summary.requiredLocal[0] != 0 && (!arguments.local || summary.requiredLocal != range.local))
    return "the local size is not the one that the kernel requires";
  if (arguments.local && isNonUniform(range)) {
    if (!machine_->homeDevice().nonUniformGroups || summary.idsFromGroups)
      return "the local size does not divide the global size";
    const std::string& options = kernel.code->origin->options;
    if (options.find("-cl-std=CL2") == std::string::npos &&
        options.find("-cl-std=CL3") == std::string::npos)
      return "the local size does not divide the global size";
  }
  if (arguments.local && (groupItems(range) > kernel.code->kernels[machine_->home()]->maxGroup ||
                          !fits(range.local, machine_->homeDevice().maxItems)))
    return "the work-groups are too large for the device";
  if (range.groups() < 2 && !mayRunElsewhere(kernel))
    return onlyOneGroup;
  return {};
}

/// Images have a place of their own on each device. Where nodes stand for memories, those in the
/// host's memory have none.
bool Session::sharesHostMemory() const {
  return std::ranges::any_of(machine_->devices(),
                             [](const Device& device) { return device.node == hostNode; });
}

std::string Session::whyNotSplittable(Lock& lock, const std::shared_ptr<Stream>& stream,
                                      const std::shared_ptr<Kernel>& kernel,
                                      const LaunchArguments& arguments) {
  KernelCode& code = *kernel->code;
  if (options_.policy.kind == Policy::Kind::Off)
    return "LIBSPLIT_POLICY=off";
  if (steppingAside_)
    return shared_.stats.steppedAside;
  if (ending_)
    return "the program ends";
  if (std::string why = preparer_.whyNotReady(lock, *kernel, stream->device); !why.empty())
    return why;
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
    const std::shared_ptr<MemoryObject> object = kernel->memoryOf(i);
    if (!argument.isSet)
      return name + "is not set";
    switch (parameter.kind) {
    case ParameterKind::GlobalBuffer:
    case ParameterKind::ConstantBuffer:
      if (argument.isNullBuffer() && !code.loaded[i])
        break;
      if (!object || !object->buffer || object->buffer->isImage())
        return name + "is no buffer that libsplit knows";
      if (!object->buffer->homeOnly().empty())
        return name + "can't leave its device: " + object->buffer->homeOnly();
      if (!object->buffer->maps.empty())
        return name + "is mapped";
      break;
    case ParameterKind::Image:
      if (!object || !object->buffer || !object->buffer->isImage())
        return name + "is no image that libsplit can copy";
      if (!object->buffer->homeOnly().empty())
        return name + "can't leave its device: " + object->buffer->homeOnly();
      if (!object->buffer->maps.empty())
        return name + "is mapped";
      if (sharesHostMemory())
        return name + "is an image, and devices work in the host's memory";
      break;
    case ParameterKind::Sampler:
      if (!samplers_.of(argument))
        return name + "is no sampler that libsplit knows";
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
  for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
    const Argument& argument = launch->arguments[i];
    launch->objects.push_back(kernel.memoryOf(i));
    if (launch->objects.back()) {
      cl_mem handle = nullptr;
      std::memcpy(&handle, argument.value.data(), sizeof handle);
      launch->keeps.push_back(Ref<cl_mem>::retain(cl_, handle));
    } else if (const cl_sampler sampler = samplers_.of(argument)) {
      launch->keepsSamplers[i] = Ref<cl_sampler>::retain(cl_, sampler);
    }
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

/// A launch goes to the driver as it came: says why, where somebody wants to know.
void Session::countUnsplit(const Kernel& kernel, const LaunchArguments& arguments,
                           const std::string& why) {
  shared_.tracer.native(kernel.code->name, why, devices());
  if (!options_.wantsStats())
    return;
  const bool isRange = arguments.dimensions >= 1 && arguments.dimensions <= 3 && arguments.global;
  KernelStats::PerRange& range =
      kernel.code->stats
          ->ranges[isRange ? rangeName(rangeOf(arguments), arguments.local != nullptr) : "invalid"];
  ++range.launches;
  range.countUnsplit(why);
}

/// Whether the launch is probably too short to be worth a look. Where data lies on several nodes,
/// short launches are part of what longer ones gain.
bool Session::rests(const Kernel& kernel, const LaunchArguments& arguments,
                    TrialBudget::Clock::time_point now) const {
  if (options_.policy.kind != Policy::Kind::Auto || (machine_->nodes() > 1 && hasSplit_))
    return false;
  double items = 1;
  for (cl_uint d = 0; d < arguments.dimensions; ++d)
    items *= static_cast<double>(arguments.global[d]);
  return kernel.code->trials.rests(items, now);
}

/// Notes what it took to find out that the launch is short.
void Session::spendOnShort(const Launch& launch, double seconds) {
  launch.code->trials.spend(seconds, static_cast<double>(itemsOf(launch.range)),
                            options_.minLaunchSeconds, TrialBudget::Clock::now());
}

/// Whether the launch is one for the driver to refuse, if it looks: of objects of other contexts.
bool Session::isOfOneContext(const Stream& stream, const Kernel& kernel) {
  if (kernel.program->context != stream.context)
    return false;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const std::shared_ptr<MemoryObject> object = kernel.memoryOf(i);
    if (object && object->buffer && object->buffer->context() != stream.context)
      return false;
  }
  return true;
}

cl_int Session::launch(const Command& command, const LaunchArguments& arguments) {
  Pumps::Enqueuing enqueuing(pumps_, command.queue, CallTable::State::Undecided);
  Lock lock(mutex_);
  auto asItCame = [&](const CompletionPtr& noted = nullptr) {
    enqueuing.admit();
    lock.unlock();
    return launchNative(command, arguments, noted);
  };
  auto found = kernels_.find(arguments.kernel);
  const std::shared_ptr<Kernel> kernel = found == kernels_.end() ? nullptr : found->second;
  if (kernel && !options_.explain.empty() && kernel->code->name == options_.explain)
    explainOnce(lock, command.queue, kernel, arguments);
  if (kernel && quiet() && kernel->code->state == KernelCode::State::Unsplittable) {
    ++kernel->code->stats->launches;
    countUnsplit(*kernel, arguments, kernel->code->reason);
    return asItCame();
  }
  auto stream = streamOf(lock, command.queue);
  if (kernel)
    ++kernel->code->stats->launches;
  if (!active() || !stream || !kernel) {
    if (kernel)
      countUnsplit(*kernel, arguments,
                   !stream                              ? "its queue is not known"
                   : shared_.stats.steppedAside.empty() ? "libsplit is not active"
                                                        : shared_.stats.steppedAside);
    return asItCame();
  }
  if (!isOfOneContext(*stream, *kernel) || !isOfOneContext(*stream, command, {})) {
    countUnsplit(*kernel, arguments, "its objects are of several contexts");
    return launchSettled(lock, enqueuing, command, *kernel, arguments);
  }
  std::string reason = whyNotSplittable(lock, stream, kernel, arguments);
  std::shared_ptr<Launch> launch;
  const auto began = TrialBudget::Clock::now();
  if (reason.empty() && rests(*kernel, arguments, began))
    reason = tooShortToLookAt;
  if (reason.empty()) {
    launch = snapshot(*kernel, arguments);
    if (stream->idle())
      decide(*stream, *launch);
    const auto decided = TrialBudget::Clock::now();
    launch->lookSeconds = std::chrono::duration<double>(decided - began).count();
    if (launch->action == ShareController::Action::Native) {
      reason = launch->whyNative();
      spendOnShort(*launch, launch->lookSeconds);
    }
  }
  if (!reason.empty()) {
    CompletionPtr noted;
    const bool isTimed =
        reason == notWorthPreparing && noteUnprepared(*kernel, arguments) && !ending_;
    if (admitNative(lock, enqueuing, command, usesOf(*kernel), &noted)) {
      countUnsplit(*kernel, arguments, reason);
      if (isTimed && !noted)
        return launchTimed(lock, command, arguments, *kernel, stream->profiled);
      return asItCame(noted);
    }
  } else if (!isValid(command, {})) {
    countUnsplit(*kernel, arguments, "the driver is to refuse it");
    return asItCame();
  }
  if (!makeClone(*kernel) || (!launch && driverMayRefuse(*kernel, *stream, arguments))) {
    countUnsplit(*kernel, arguments,
                 reason.empty() ? "the driver makes no second object of the kernel" : reason);
    return launchSettled(lock, enqueuing, command, *kernel, arguments);
  }
  if (!launch)
    launch = snapshot(*kernel, arguments);
  launch->clone = kernel->clone;
  launch->reason = reason;
  if (options_.verify && launch->reason.empty())
    return launchVerified(command, launch);
  auto task = newTask(stream, command);
  attachEvent(*task, command);
  task->isLaunch = true;
  task->program = launch->program.get();
  task->launch = launch;
  task->plan = [this, launch](Task& planned) { planLaunch(planned, launch); };
  task->retired = [this, launch](Task& ended) { observe(ended, *launch); };
  submit(task);
  return CL_SUCCESS;
}

} // namespace libsplit::runtime
