#include "runtime/session/reference_counts.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

using Kind = References::Kind;

cl_uint countOf(const Dispatch& cl, cl_context context) {
  return property<cl_uint>(cl.clGetContextInfo, context, CL_CONTEXT_REFERENCE_COUNT);
}
cl_uint countOf(const Dispatch& cl, cl_command_queue queue) {
  return property<cl_uint>(cl.clGetCommandQueueInfo, queue, CL_QUEUE_REFERENCE_COUNT);
}
cl_uint countOf(const Dispatch& cl, cl_mem memory) {
  return property<cl_uint>(cl.clGetMemObjectInfo, memory, CL_MEM_REFERENCE_COUNT);
}
cl_uint countOf(const Dispatch& cl, cl_program program) {
  return property<cl_uint>(cl.clGetProgramInfo, program, CL_PROGRAM_REFERENCE_COUNT);
}
cl_uint countOf(const Dispatch& cl, cl_kernel kernel) {
  return property<cl_uint>(cl.clGetKernelInfo, kernel, CL_KERNEL_REFERENCE_COUNT);
}
cl_uint countOf(const Dispatch& cl, cl_sampler sampler) {
  return property<cl_uint>(cl.clGetSamplerInfo, sampler, CL_SAMPLER_REFERENCE_COUNT);
}
cl_uint countOf(const Dispatch& cl, cl_event event) {
  return property<cl_uint>(cl.clGetEventInfo, event, CL_EVENT_REFERENCE_COUNT);
}

cl_context contextOf(const Dispatch& cl, cl_event event) {
  return property<cl_context>(cl.clGetEventInfo, event, CL_EVENT_CONTEXT);
}

/// An object, and what its driver counts it in.
struct Child {
  Kind kind;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr; ///< of a command's event
  cl_mem whole = nullptr;           ///< of a sub-buffer
  cl_program program = nullptr;     ///< of a kernel
  cl_uint count = 0;                ///< the driver's, of the object itself
};

Child childOf(const Dispatch& cl, const References::Object& object) {
  Child child{object.kind};
  switch (object.kind) {
  case Kind::Memory: {
    auto* memory = static_cast<cl_mem>(object.handle);
    child.context = property<cl_context>(cl.clGetMemObjectInfo, memory, CL_MEM_CONTEXT);
    child.whole = property<cl_mem>(cl.clGetMemObjectInfo, memory, CL_MEM_ASSOCIATED_MEMOBJECT);
    child.count = countOf(cl, memory);
    break;
  }
  case Kind::Event: {
    auto* event = static_cast<cl_event>(object.handle);
    child.context = contextOf(cl, event);
    child.queue = property<cl_command_queue>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_QUEUE);
    child.count = countOf(cl, event);
    break;
  }
  case Kind::Kernel: {
    auto* kernel = static_cast<cl_kernel>(object.handle);
    child.context = property<cl_context>(cl.clGetKernelInfo, kernel, CL_KERNEL_CONTEXT);
    child.program = property<cl_program>(cl.clGetKernelInfo, kernel, CL_KERNEL_PROGRAM);
    child.count = countOf(cl, kernel);
    break;
  }
  case Kind::Program: {
    auto* program = static_cast<cl_program>(object.handle);
    child.context = property<cl_context>(cl.clGetProgramInfo, program, CL_PROGRAM_CONTEXT);
    child.count = countOf(cl, program);
    break;
  }
  case Kind::Queue: {
    auto* queue = static_cast<cl_command_queue>(object.handle);
    child.context = property<cl_context>(cl.clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT);
    child.count = countOf(cl, queue);
    break;
  }
  case Kind::Sampler: {
    auto* sampler = static_cast<cl_sampler>(object.handle);
    child.context = property<cl_context>(cl.clGetSamplerInfo, sampler, CL_SAMPLER_CONTEXT);
    child.count = countOf(cl, sampler);
    break;
  }
  case Kind::Context:
  case Kind::Device: // in nothing that is counted
    break;
  }
  return child;
}

void release(const Dispatch& cl, const References::Object& object) {
  const auto as = [&](auto* typed) {
    cl.references.remove(object.handle, [&] { detail::release(cl, typed); });
  };
  switch (object.kind) {
  case Kind::Memory:
    return as(static_cast<cl_mem>(object.handle));
  case Kind::Event:
    return as(static_cast<cl_event>(object.handle));
  case Kind::Kernel:
    return as(static_cast<cl_kernel>(object.handle));
  case Kind::Program:
    return as(static_cast<cl_program>(object.handle));
  case Kind::Context:
    return as(static_cast<cl_context>(object.handle));
  case Kind::Queue:
    return as(static_cast<cl_command_queue>(object.handle));
  case Kind::Sampler:
    return as(static_cast<cl_sampler>(object.handle));
  case Kind::Device:
    return as(static_cast<cl_device_id>(object.handle));
  }
}

/// What is there because of libsplit alone: what it made, and what only it still keeps.
std::vector<Child> childrenOfOurs(const Dispatch& cl) {
  std::vector<Child> children;
  for (const References::Object& object : cl.references.addToAll()) {
    const Child child = childOf(cl, object);
    if (object.isOwn || child.count == 1)
      children.push_back(child);
    release(cl, object);
  }
  return children;
}

} // namespace

ReferenceWeights ReferenceWeights::measure(const Dispatch& cl, cl_device_id device) {
  ReferenceWeights weights;
  cl_int error = CL_SUCCESS;
  const auto context =
      Ref<cl_context>::adopt(cl, cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  if (!context)
    return weights;
  // How a count grows with what `make` makes.
  const auto growth = [&](auto of, const auto& make) {
    const long before = countOf(cl, of);
    const auto made = make();
    return made ? countOf(cl, of) - before : 0L;
  };
  const auto onContext = [&](Kind kind, const auto& make) {
    weights.onContext[static_cast<std::size_t>(kind)] = growth(context.get(), make);
  };
  cl_context in = context.get();
  const auto buffer = [&] {
    constexpr std::size_t bytes = 64;
    return Ref<cl_mem>::adopt(cl, cl.clCreateBuffer(in, CL_MEM_READ_WRITE, bytes, nullptr, &error));
  };
  const auto queue = [&] {
    return Ref<cl_command_queue>::adopt(cl, cl.clCreateCommandQueue(in, device, 0, &error));
  };
  const auto program = [&] {
    return buildProgram(cl, in, device, "kernel void counted(global int* a) { a[0] = 1; }\n",
                        error);
  };
  onContext(Kind::Memory, buffer);
  onContext(Kind::Queue, queue);
  onContext(Kind::Program, program);
  onContext(Kind::Sampler, [&] {
    return Ref<cl_sampler>::adopt(
        cl, cl.clCreateSampler(in, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error));
  });
  if (cl.clCreateUserEvent)
    onContext(Kind::Event, [&] {
      auto event = Ref<cl_event>::adopt(cl, cl.clCreateUserEvent(in, &error));
      if (event)
        cl.clSetUserEventStatus(event.get(), CL_COMPLETE);
      return event;
    });
  if (const auto whole = buffer()) {
    const auto part = [&] {
      const cl_buffer_region region{0, 1};
      return Ref<cl_mem>::adopt(cl, cl.clCreateSubBuffer(whole.get(), CL_MEM_READ_WRITE,
                                                         CL_BUFFER_CREATE_TYPE_REGION, &region,
                                                         &error));
    };
    weights.partOnContext = growth(in, part);
    weights.partOnBuffer = growth(whole.get(), part);
  }
  if (const auto runs = queue()) {
    const auto command = [&] {
      cl_event event = nullptr;
      if (cl.clEnqueueMarkerWithWaitList(runs.get(), 0, nullptr, &event) != CL_SUCCESS)
        return Ref<cl_event>();
      auto owned = Ref<cl_event>::adopt(cl, event);
      cl.clFinish(runs.get());
      return owned;
    };
    weights.commandOnContext = growth(in, command);
    weights.commandOnQueue = growth(runs.get(), command);
  }
  if (const auto of = program()) {
    const auto kernel = [&] {
      return Ref<cl_kernel>::adopt(cl, cl.clCreateKernel(of.get(), "counted", &error));
    };
    onContext(Kind::Kernel, kernel);
    weights.kernelOnProgram = growth(of.get(), kernel);
  }
  return weights;
}

ReferenceWeights ReferenceCounts::weightsIn(cl_context context) {
  const auto devices =
      arrayProperty<cl_device_id>(cl_.clGetContextInfo, context, CL_CONTEXT_DEVICES);
  if (devices.empty())
    return {};
  const auto platform =
      property<cl_platform_id>(cl_.clGetDeviceInfo, devices.front(), CL_DEVICE_PLATFORM);
  const std::lock_guard lock(mutex_);
  const auto known = weights_.find(platform);
  return known != weights_.end()
             ? known->second
             : weights_.emplace(platform, ReferenceWeights::measure(cl_, devices.front()))
                   .first->second;
}

template <class Handle> long ReferenceCounts::withoutOurs(Handle handle) const {
  return cl_.references.withoutOurs(handle,
                                    [&] { return static_cast<long>(countOf(cl_, handle)); });
}

long ReferenceCounts::now(cl_context context) {
  std::vector<Child> children = childrenOfOurs(cl_);
  std::erase_if(children, [&](const Child& child) { return child.context != context; });
  const auto standIns = std::ranges::count_if(events_.standIns(), [&](const auto& each) {
    return contextOf(cl_, each.event.get()) == context;
  });
  long count = withoutOurs(context);
  if (children.empty() && standIns == 0)
    return count;
  const ReferenceWeights weights = weightsIn(context);
  for (const Child& child : children)
    count -= child.queue   ? weights.commandOnContext
             : child.whole ? weights.partOnContext
                           : weights.of(child.kind);
  return count + standIns * (weights.commandOnContext - weights.of(Kind::Event));
}

long ReferenceCounts::now(cl_command_queue queue) {
  const auto events = std::ranges::count(childrenOfOurs(cl_), queue, &Child::queue);
  const auto standIns = std::ranges::count(events_.standIns(), queue, &EventTable::StandIn::queue);
  const long count = withoutOurs(queue);
  if (events == standIns)
    return count;
  const auto context = property<cl_context>(cl_.clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT);
  return count + (standIns - events) * weightsIn(context).commandOnQueue;
}

long ReferenceCounts::now(cl_mem memory) {
  const auto parts = std::ranges::count(childrenOfOurs(cl_), memory, &Child::whole);
  const long count = withoutOurs(memory);
  if (parts == 0)
    return count;
  const auto context = property<cl_context>(cl_.clGetMemObjectInfo, memory, CL_MEM_CONTEXT);
  return count - parts * weightsIn(context).partOnBuffer;
}

long ReferenceCounts::now(cl_program program) {
  const auto kernels = std::ranges::count(childrenOfOurs(cl_), program, &Child::program);
  const long count = withoutOurs(program);
  if (kernels == 0)
    return count;
  const auto context = property<cl_context>(cl_.clGetProgramInfo, program, CL_PROGRAM_CONTEXT);
  return count - kernels * weightsIn(context).kernelOnProgram;
}

/// Until two answers are the same: what other threads give up meanwhile may be in one of its
/// numbers, and in another no more.
template <class Handle> cl_uint ReferenceCounts::of(Handle handle) {
  constexpr int often = 100;
  long count = now(handle);
  for (int i = 0; i < often; ++i)
    if (const long before = std::exchange(count, now(handle)); before == count)
      break;
  return static_cast<cl_uint>(std::max(count, 1L)); // it is asked of an object that is there
}

template cl_uint ReferenceCounts::of(cl_context);
template cl_uint ReferenceCounts::of(cl_command_queue);
template cl_uint ReferenceCounts::of(cl_mem);
template cl_uint ReferenceCounts::of(cl_program);
template cl_uint ReferenceCounts::of(cl_kernel);
template cl_uint ReferenceCounts::of(cl_sampler);
template cl_uint ReferenceCounts::of(cl_event);

} // namespace libsplit::runtime
