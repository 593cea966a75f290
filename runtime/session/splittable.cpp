#include "runtime/session/splittable.h"

#include "analysis-pass/summary/program_kind.h"
#include "runtime/plan/piece_range.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace libsplit::runtime {

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

bool asksForUneven(const Origin& origin) {
  return origin.options.find("-cl-std=CL2") != std::string::npos ||
         origin.options.find("-cl-std=CL3") != std::string::npos;
}

namespace {

/// One work-group can't be split; but all may be asked to run on one device, or other launches of
/// the kernel may have shown that another device runs it faster.
bool mayRunElsewhere(const Options& options, const Kernel& kernel) {
  return options.policy.kind == Policy::Kind::Single ||
         (options.policy.kind == Policy::Kind::Auto && kernel.code->stats->splitLaunches > 0);
}

/// Whether all devices that take part compute alike.
bool isOneKind(const Machine& machine) {
  return std::ranges::all_of(machine.devices(), [&](const Device& device) {
    return !device.participates || device.kind == machine.homeDevice().kind;
  });
}

std::string whyRangeNotSplittable(const Machine& machine, const Options& options,
                                  const Kernel& kernel, const LaunchArguments& arguments) {
  if (!isRange(arguments))
    return "the NDRange is not valid";
  for (unsigned d = 0; d < arguments.dimensions; ++d) {
    std::size_t global = arguments.global[d], offset = arguments.offset ? arguments.offset[d] : 0;
    if (global == 0 || offset + global < offset || (arguments.local && arguments.local[d] == 0))
      return "the NDRange is empty or not valid";
  }
  const KernelSummary& summary = *kernel.code->summaries[machine.home()];
  NDRange range = rangeOf(arguments);
  constexpr std::uint64_t mostItems = (std::uint64_t{1} << 31) - 1;
  if (summary.idsFromGroups &&
      *std::max_element(range.global.begin(), range.global.end()) > mostItems)
    return "the kernel's group ids may not fit in 32 bits";
  if (!arguments.local && summary.dependsOnGroups)
    return "the local size is left to the driver, and the kernel's result depends on it";
  if (summary.dependsOnSubGroups && !isOneKind(machine))
    return "the kernel's result depends on sub-groups, which differ from device to device";
  if (summary.requiredLocal[0] != 0 && (!arguments.local || summary.requiredLocal != range.local))
    return "the local size is not the one that the kernel requires";
  if (arguments.local && isNonUniform(range)) {
    if (!machine.homeDevice().nonUniformGroups || summary.idsFromGroups)
      return "the local size does not divide the global size";
    if (!asksForUneven(*kernel.code->origin))
      return "the local size does not divide the global size";
  }
  if (arguments.local && (groupItems(range) > kernel.code->kernels[machine.home()]->maxGroup ||
                          !fits(range.local, machine.homeDevice().maxItems)))
    return "the work-groups are too large for the device";
  if (kernel.code->kernels[machine.home()]->localMemory + localBytesOf(kernel.arguments) >
      machine.homeDevice().localMemory)
    return "the work-groups need more local memory than the device has";
  if (range.groups() < 2 && !mayRunElsewhere(options, kernel))
    return onlyOneGroup;
  return {};
}

/// Images have a place of their own on each device. Where nodes stand for memories, those in the
/// host's memory have none.
bool sharesHostMemory(const Machine& machine) {
  return std::ranges::any_of(machine.devices(),
                             [](const Device& device) { return device.node == hostNode; });
}

/// Why only home may touch it now; empty: others may.
std::string whyTied(const Buffer& buffer) {
  if (!buffer.homeOnly().empty())
    return "can't leave its device: " + buffer.homeOnly();
  return buffer.maps.empty() ? "" : "is mapped";
}

std::string whyArgumentNotSplittable(const Machine& machine, const Samplers& samplers,
                                     const Kernel& kernel, std::size_t i) {
  const Argument& argument = kernel.arguments[i];
  const Parameter& parameter = kernel.code->summaries[machine.home()]->parameters[i];
  const auto it = [&](const std::string& what) { // a text costs an allocation
    return "argument `" + parameter.name + "` " + what;
  };
  const std::shared_ptr<MemoryObject> object = kernel.memoryOf(i);
  if (!argument.isSet)
    return it("is not set");
  switch (parameter.kind) {
  case ParameterKind::GlobalBuffer:
  case ParameterKind::ConstantBuffer:
    if (argument.isNullBuffer() && !kernel.code->loaded[i])
      break;
    if (!object || !object->buffer || object->buffer->isImage())
      return it("is no buffer that libsplit knows");
    if (std::string why = whyTied(*object->buffer); !why.empty())
      return it(why);
    if (parameter.kind == ParameterKind::ConstantBuffer &&
        object->size > machine.homeDevice().constants)
      return it("is larger than the device's constants may be");
    break;
  case ParameterKind::Image:
    if (!object || !object->buffer || !object->buffer->isImage())
      return it("is no image that libsplit can copy");
    if (std::string why = whyTied(*object->buffer); !why.empty())
      return it(why);
    if (sharesHostMemory(machine))
      return it("is an image, and devices work in the host's memory");
    break;
  case ParameterKind::Sampler:
    if (!samplers.of(argument))
      return it("is no sampler that libsplit knows");
    break;
  case ParameterKind::LocalBuffer:
    if (!argument.isLocal())
      return it("is not local memory");
    break;
  case ParameterKind::Scalar:
    if (argument.value.size() != parameter.size)
      return it("has another size than its type");
    break;
  default:
    return it("is neither buffer nor value");
  }
  return {};
}

/// An image that is written is given once: where in it others read is not known.
std::string whyImagesNotSplittable(const Kernel& kernel, std::span<const Parameter> parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind != ParameterKind::Image || !kernel.code->writes[i])
      continue;
    for (std::size_t other = 0; other < parameters.size(); ++other)
      if (other != i && parameters[other].kind == ParameterKind::Image &&
          kernel.memoryOf(other)->buffer == kernel.memoryOf(i)->buffer)
        return "arguments `" + parameters[i].name + "` and `" + parameters[other].name +
               "` are the same image, which the kernel writes";
  }
  return {};
}

/// Where the local size is left open, barriers must order nothing.
std::string whyBarriersMatter(const Kernel& kernel, std::span<const Parameter> parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::shared_ptr<MemoryObject> written =
        kernel.code->writes[i] ? kernel.memoryOf(i) : nullptr;
    for (std::size_t other = 0; written && other < parameters.size(); ++other)
      if (const auto object = kernel.memoryOf(other);
          other != i && object && object->buffer == written->buffer)
        return "the local size is left to the driver, and barriers order what the kernel does to "
               "arguments `" +
               parameters[std::min(i, other)].name + "` and `" +
               parameters[std::max(i, other)].name + "`, which share a buffer";
  }
  return {};
}

/// Whether the kernel may have been built for work-groups that differ in size: programs ask for
/// that, by a version of the language from 2.0 on.
bool mayBeUneven(const Kernel& kernel, cl_device_id device) {
  const auto origin = kernel.program->build->origins.find(device);
  if (origin == kernel.program->build->origins.end() ||
      kindOf(origin->second->text) != ProgramKind::OpenclC)
    return true;
  const std::string& options = origin->second->options;
  return options.find("-cl-std=") != std::string::npos &&
         options.find("-cl-std=CL1") == std::string::npos;
}

} // namespace

std::uint64_t localBytesOf(std::span<const Argument> arguments) {
  std::uint64_t bytes = 0;
  for (const Argument& each : arguments)
    bytes += each.isLocal() ? each.size : 0;
  return bytes;
}

std::string whyNotSplittable(const Machine& machine, const Options& options,
                             const Samplers& samplers, const Kernel& kernel,
                             const LaunchArguments& arguments) {
  if (std::string why = whyRangeNotSplittable(machine, options, kernel, arguments); !why.empty())
    return why;
  if (kernel.code->summaries[machine.home()]->parameters.size() != kernel.arguments.size())
    return "the analysis saw other parameters";
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    if (std::string why = whyArgumentNotSplittable(machine, samplers, kernel, i); !why.empty())
      return why;
  const KernelSummary& summary = *kernel.code->summaries[machine.home()];
  if (!arguments.local && summary.dependsOnGroupsIfShared)
    if (std::string why = whyBarriersMatter(kernel, summary.parameters); !why.empty())
      return why;
  return whyImagesNotSplittable(kernel, summary.parameters);
}

Refusal refusalOf(const Dispatch& cl, const Kernel& kernel, const Stream& stream,
                  const LaunchArguments& arguments) {
  if (!isRange(arguments) || std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                                         [](const Argument& argument) { return !argument.isSet; }))
    return Refusal::All;
  auto limit = [&](cl_kernel_work_group_info name, std::size_t size, void* value) {
    return cl.clGetKernelWorkGroupInfo(kernel.handle, stream.device, name, size, value, nullptr) ==
           CL_SUCCESS;
  };
  std::size_t required[3] = {0, 0, 0}, maxGroup = 0, items = 1;
  if (!limit(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required) ||
      !limit(CL_KERNEL_WORK_GROUP_SIZE, sizeof maxGroup, &maxGroup))
    return Refusal::Some;
  auto maxItems =
      arrayProperty<std::size_t>(cl.clGetDeviceInfo, stream.device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  auto refusal = Refusal::No;
  cl_ulong local = 0; // some drivers count what arguments give it, and some do not
  limit(CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local);
  local = std::max<cl_ulong>(local, localBytesOf(kernel.arguments));
  if (local > property<cl_ulong>(cl.clGetDeviceInfo, stream.device, CL_DEVICE_LOCAL_MEM_SIZE, 0))
    refusal = Refusal::Some;
  for (unsigned d = 0; d < arguments.dimensions; ++d) {
    const std::size_t global = arguments.global[d];
    const std::size_t offset = arguments.offset ? arguments.offset[d] : 0;
    if (global == 0 || offset + global < offset)
      refusal = Refusal::Some;
    if (!arguments.local) {
      if (required[0] != 0)
        refusal = Refusal::Some;
      continue;
    }
    const std::size_t local = arguments.local[d];
    if (local == 0 || (required[0] != 0 && local != required[d]) ||
        (d < maxItems.size() && local > maxItems[d]))
      return Refusal::All;
    if (global % local != 0 && !mayBeUneven(kernel, stream.device))
      return Refusal::All;
    if (global % local != 0)
      refusal = Refusal::Some;
    items *= local;
  }
  for (unsigned d = arguments.dimensions; d < 3; ++d)
    if (required[0] != 0 && required[d] != 1)
      return Refusal::All;
  return items > maxGroup ? Refusal::All : refusal;
}

std::shared_ptr<LaneKernel> cloneOf(const Dispatch& cl, Kernel& kernel, const Stream& stream) {
  if (kernel.clone && !kernel.isOpaque)
    return kernel.clone;
  if (kernel.isOpaque && (!cl.clCloneKernel || stringProperty(cl.clGetDeviceInfo, stream.device,
                                                              CL_DEVICE_VERSION) < "OpenCL 2.1"))
    return nullptr;
  cl_int error = CL_SUCCESS;
  auto clone = std::make_shared<LaneKernel>();
  clone->kernel =
      Ref<cl_kernel>::adopt(cl,
                            kernel.isOpaque ? cl.clCloneKernel(kernel.handle, &error)
                                            : cl.clCreateKernel(kernel.program->handle,
                                                                kernel.code->name.c_str(), &error),
                            kernel.program->handle);
  if (error != CL_SUCCESS)
    return nullptr;
  if (!kernel.isOpaque)
    kernel.clone = clone;
  return clone;
}

bool isOfOneContext(const Stream& stream, const Kernel& kernel) {
  if (kernel.program->context != stream.context)
    return false;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const std::shared_ptr<MemoryObject> object = kernel.memoryOf(i);
    if (object && object->buffer && object->buffer->context() != stream.context)
      return false;
  }
  return true;
}

std::vector<BufferUse> usesOf(const Kernel& kernel) {
  std::vector<BufferUse> uses;
  uses.reserve(kernel.arguments.size());
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

std::shared_ptr<Launch> snapshot(const Dispatch& cl, const Samplers& samplers, const Kernel& kernel,
                                 const LaunchArguments& arguments, std::shared_ptr<Launch> launch) {
  launch->program = kernel.program;
  launch->code = kernel.code;
  launch->clone = kernel.clone;
  launch->arguments = kernel.arguments;
  launch->range = rangeOf(arguments);
  launch->localGiven = arguments.local != nullptr;
  launch->key.range = launch->code->histories.nameOf(launch->range, launch->localGiven);
  const std::size_t count = launch->arguments.size();
  launch->objects.reserve(count);
  launch->keeps.reserve(count);
  launch->buffers.reserve(count);
  for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
    const Argument& argument = launch->arguments[i];
    launch->objects.push_back(kernel.memoryOf(i));
    if (launch->objects.back()) {
      cl_mem handle = nullptr;
      std::memcpy(&handle, argument.value.data(), sizeof handle);
      launch->keeps.push_back(Ref<cl_mem>::retain(cl, handle));
    } else if (const cl_sampler sampler = samplers.of(argument)) {
      launch->keepsSamplers[i] = Ref<cl_sampler>::retain(cl, sampler);
    } else if (const cl_mem foreign = kernel.foreignMemoryOf(i)) {
      launch->keeps.push_back(Ref<cl_mem>::retain(cl, foreign));
    }
  }
  LaunchRequest& request = launch->request;
  request.range = launch->range;
  request.arguments.resize(count);
  request.buffers.reserve(count);
  for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
    const Argument& argument = launch->arguments[i];
    const std::shared_ptr<MemoryObject>& object = launch->objects[i];
    if (!object || !object->buffer) {
      request.arguments[i].bytes = argument.value.view();
      continue;
    }
    request.arguments[i].bufferSize = object->size;
    if (object->buffer->isImage())
      request.arguments[i].bytes = object->buffer->imageNumbers();
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

} // namespace libsplit::runtime
