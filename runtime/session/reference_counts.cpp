#include "runtime/session/reference_counts.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace libsplit::runtime {

namespace {

using Kind = References::Kind;

/// How a driver is asked for the references of an object, and for its context.
template <class Query> struct Queries {
  Query query;
  cl_uint count;
  cl_uint context = 0; ///< 0: it has none
};
template <class Query> Queries(Query, cl_uint, cl_uint) -> Queries<Query>;
template <class Query> Queries(Query, cl_uint) -> Queries<Query>;

auto queriesOf(const Dispatch& cl, cl_context) {
  return Queries{cl.clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT};
}
auto queriesOf(const Dispatch& cl, cl_command_queue) {
  return Queries{cl.clGetCommandQueueInfo, CL_QUEUE_REFERENCE_COUNT, CL_QUEUE_CONTEXT};
}
auto queriesOf(const Dispatch& cl, cl_mem) {
  return Queries{cl.clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT, CL_MEM_CONTEXT};
}
auto queriesOf(const Dispatch& cl, cl_program) {
  return Queries{cl.clGetProgramInfo, CL_PROGRAM_REFERENCE_COUNT, CL_PROGRAM_CONTEXT};
}
auto queriesOf(const Dispatch& cl, cl_kernel) {
  return Queries{cl.clGetKernelInfo, CL_KERNEL_REFERENCE_COUNT, CL_KERNEL_CONTEXT};
}
auto queriesOf(const Dispatch& cl, cl_sampler) {
  return Queries{cl.clGetSamplerInfo, CL_SAMPLER_REFERENCE_COUNT, CL_SAMPLER_CONTEXT};
}
auto queriesOf(const Dispatch& cl, cl_event) {
  return Queries{cl.clGetEventInfo, CL_EVENT_REFERENCE_COUNT, CL_EVENT_CONTEXT};
}

template <class Handle> cl_uint countOf(const Dispatch& cl, Handle handle) {
  const auto queries = queriesOf(cl, handle);
  return property<cl_uint>(queries.query, handle, queries.count);
}

template <class Handle> cl_context contextOf(const Dispatch& cl, Handle handle) {
  const auto queries = queriesOf(cl, handle);
  return property<cl_context>(queries.query, handle, queries.context);
}

/// Null of a user event.
cl_command_queue queueOf(const Dispatch& cl, cl_event event) {
  return property<cl_command_queue>(cl.clGetEventInfo, event, CL_EVENT_COMMAND_QUEUE);
}

/// What `call` makes of an object's handle, which is there; of contexts and devices, which are in
/// no context, nothing.
template <class Call> auto ofHandle(const References::Object& object, const Call& call) {
  switch (object.kind) {
  case Kind::Memory:
    return call(static_cast<cl_mem>(object.handle));
  case Kind::Event:
    return call(static_cast<cl_event>(object.handle));
  case Kind::Kernel:
    return call(static_cast<cl_kernel>(object.handle));
  case Kind::Program:
    return call(static_cast<cl_program>(object.handle));
  case Kind::Queue:
    return call(static_cast<cl_command_queue>(object.handle));
  case Kind::Sampler:
    return call(static_cast<cl_sampler>(object.handle));
  case Kind::Context:
  case Kind::Device:
    break;
  }
  return decltype(call(cl_mem())){};
}

/// By how much counts grow with an object: what two tries in a row say, since other threads make
/// some as well.
template <class Counts, class Make, class Release>
auto growthOf(const Counts& counts, const Make& make, const Release& release) {
  constexpr int tries = 5;
  auto last = counts();
  for (int i = 0; i < tries; ++i) {
    const auto before = counts();
    const auto made = make();
    auto growth = counts();
    for (std::size_t each = 0; each < growth.size(); ++each)
      growth[each] = made ? growth[each] - before[each] : 0;
    if (made)
      release(made);
    if (i > 0 && growth == last)
      break;
    last = growth;
  }
  return last;
}

} // namespace

long ReferenceCounts::weight(cl_context context, Weight weight, cl_kernel example) {
  const auto devices =
      arrayProperty<cl_device_id>(cl_.clGetContextInfo, context, CL_CONTEXT_DEVICES);
  if (devices.empty())
    return 0;
  const auto platform =
      property<cl_platform_id>(cl_.clGetDeviceInfo, devices.front(), CL_DEVICE_PLATFORM);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = weights_.find({platform, weight}); known != weights_.end())
      return known->second;
  }
  if (!shared_.isActive()) // there is next to nothing any more
    return 0;
  const bool isOfKernels = weight == Weight::Kernel || weight == Weight::KernelOnProgram;
  if (isOfKernels && !example)
    return 0;
  const std::map<Weight, long> measured =
      isOfKernels ? measureAsOf(example, context) : measure(devices.front(), weight);
  const std::lock_guard lock(mutex_);
  for (const auto& [each, growth] : measured)
    weights_[{platform, each}] = growth;
  return measured.at(weight);
}

/// Without Refs: these objects are nobody's to count. In a context that nobody else has: in the
/// program's other threads make and release objects meanwhile.
std::map<ReferenceCounts::Weight, long> ReferenceCounts::measure(cl_device_id device,
                                                                 Weight weight) const {
  using Counts = std::vector<long>;
  cl_int error = CL_SUCCESS;
  cl_context context = cl_.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  if (!context)
    return {{weight, 0}};
  struct Release {
    const Dispatch& cl;
    cl_context context;
    ~Release() { cl.clReleaseContext(context); }
  } const release{cl_, context};
  const auto onContext = [&] { return Counts{countOf(cl_, context)}; };
  const auto buffer = [&] {
    constexpr std::size_t bytes = 64;
    return cl_.clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
  };
  const auto queue = [&] { return cl_.clCreateCommandQueue(context, device, 0, &error); };
  switch (weight) {
  case Weight::Memory:
    return {{weight, growthOf(onContext, buffer, cl_.clReleaseMemObject)[0]}};
  case Weight::Queue:
    return {{weight, growthOf(onContext, queue, cl_.clReleaseCommandQueue)[0]}};
  case Weight::Program: {
    const auto program = [&] {
      const char* text = "";
      return cl_.clCreateProgramWithSource(context, 1, &text, nullptr, &error);
    };
    return {{weight, growthOf(onContext, program, cl_.clReleaseProgram)[0]}};
  }
  case Weight::Sampler: {
    const auto sampler = [&] {
      return cl_.clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
    };
    return {{weight, growthOf(onContext, sampler, cl_.clReleaseSampler)[0]}};
  }
  case Weight::UserEvent: {
    const auto event = [&] {
      cl_event made = cl_.clCreateUserEvent(context, &error);
      if (made)
        cl_.clSetUserEventStatus(made, CL_COMPLETE);
      return made;
    };
    return {{weight, growthOf(onContext, event, cl_.clReleaseEvent)[0]}};
  }
  case Weight::Part:
  case Weight::PartOnBuffer: {
    cl_mem whole = buffer();
    if (!whole)
      return {{weight, 0}};
    const auto part = [&] {
      const cl_buffer_region region{0, 1};
      return cl_.clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                   &error);
    };
    const Counts growth =
        growthOf([&] { return Counts{countOf(cl_, context), countOf(cl_, whole)}; }, part,
                 cl_.clReleaseMemObject);
    cl_.clReleaseMemObject(whole);
    return {{Weight::Part, growth[0]}, {Weight::PartOnBuffer, growth[1]}};
  }
  case Weight::Command:
  case Weight::CommandOnQueue: {
    cl_command_queue runs = queue();
    if (!runs)
      return {{weight, 0}};
    const auto command = [&]() -> cl_event {
      cl_event event = nullptr;
      if (cl_.clEnqueueMarkerWithWaitList(runs, 0, nullptr, &event) != CL_SUCCESS)
        return nullptr;
      cl_.clFlush(runs);
      // In a callback it is perhaps this thread that it needs.
      constexpr int patience = 100;
      constexpr std::chrono::microseconds pause(50);
      for (int i = 0;
           i < patience && property<cl_int>(cl_.clGetEventInfo, event,
                                            CL_EVENT_COMMAND_EXECUTION_STATUS) > CL_COMPLETE;
           ++i)
        std::this_thread::sleep_for(pause);
      return event;
    };
    const Counts growth =
        growthOf([&] { return Counts{countOf(cl_, context), countOf(cl_, runs)}; }, command,
                 cl_.clReleaseEvent);
    cl_.clReleaseCommandQueue(runs);
    return {{Weight::Command, growth[0]}, {Weight::CommandOnQueue, growth[1]}};
  }
  case Weight::Kernel:
  case Weight::KernelOnProgram: // see measureAsOf
    break;
  }
  return {{weight, 0}};
}

/// By another one like that: nothing is built for it.
std::map<ReferenceCounts::Weight, long> ReferenceCounts::measureAsOf(cl_kernel kernel,
                                                                     cl_context context) const {
  cl_int error = CL_SUCCESS;
  auto* of = property<cl_program>(cl_.clGetKernelInfo, kernel, CL_KERNEL_PROGRAM);
  const std::string name = stringProperty(cl_.clGetKernelInfo, kernel, CL_KERNEL_FUNCTION_NAME);
  const std::vector<long> growth =
      growthOf([&] { return std::vector<long>{countOf(cl_, context), countOf(cl_, of)}; },
               [&] { return cl_.clCreateKernel(of, name.c_str(), &error); }, cl_.clReleaseKernel);
  return {{Weight::Kernel, growth[0]}, {Weight::KernelOnProgram, growth[1]}};
}

/// A kernel that is kept while it may be needed to find out what kernels add.
class ReferenceCounts::Example {
public:
  explicit Example(const Dispatch& cl) : cl_(cl) {}
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;
  ~Example() {
    if (kernel_)
      cl_.clReleaseKernel(kernel_);
  }
  cl_kernel get() const { return kernel_; }
  /// Without a Ref, for whose locks the caller holds.
  void keep(cl_kernel kernel) {
    if (!kernel_ && cl_.clRetainKernel(kernel) == CL_SUCCESS)
      kernel_ = kernel;
  }

private:
  const Dispatch& cl_;
  cl_kernel kernel_ = nullptr;
};

/// Looks at what libsplit holds in a context while nothing of it changes, and reckons afterwards,
/// when weights can be measured, what of that would not be there natively.
class ReferenceCounts::Tally {
public:
  Tally(ReferenceCounts& counts, cl_context context)
      : counts_(counts), context_(context), example_(counts.cl_) {}

  void look(const References::View& view) {
    const Dispatch& cl = counts_.cl_;
    references_ = counts_.withoutOurs(view, context_);
    view.each([&](const References::Object& object) {
      if (!object.context)
        object.context = ofHandle(object, [&](auto handle) { return contextOf(cl, handle); });
      if (!object.context || object.context != context_)
        return;
      see(view, object.handle,
          {weightOf(object), object.isOwn, static_cast<long>(object.drivers),
           ofHandle(object, [&](auto handle) { return long{countOf(cl, handle)}; })});
      if (object.kind == Kind::Kernel && object.isOwn) {
        example_.keep(static_cast<cl_kernel>(object.handle));
        auto* program = static_cast<cl_program>(object.parent); // is there, since its kernel is
        if (program && view.driversOf(program) == 0)
          see(view, program, {Weight::Program, false, 0, long{countOf(cl, program)}});
      }
    });
  }

  long references() const {
    long count = references_;
    for (const auto& [handle, seen] : seen_)
      if (seen.isOwn || isOnlyOurs(seen))
        count -= counts_.weight(context_, seen.weight, example_.get());
    return count;
  }

private:
  struct Seen {
    Weight weight;
    bool isOwn;
    long drivers;      ///< references that are libsplit's
    long references;   ///< all of them
    long children = 0; ///< that libsplit made of it
  };

  ReferenceCounts& counts_;
  const cl_context context_;
  long references_ = 0;
  std::map<void*, Seen> seen_;
  Example example_;

  void see(const References::View& view, void* handle, Seen seen) {
    seen.children = view.childrenOf(handle);
    seen_.emplace(handle, seen);
  }

  Weight weightOf(const References::Object& object) const {
    switch (object.kind) {
    case Kind::Memory:
      return object.parent ? Weight::Part : Weight::Memory;
    case Kind::Event:
      return queueOf(counts_.cl_, static_cast<cl_event>(object.handle)) ? Weight::Command
                                                                        : Weight::UserEvent;
    case Kind::Kernel:
      return Weight::Kernel;
    case Kind::Program:
      return Weight::Program;
    case Kind::Queue:
      return Weight::Queue;
    default:
      return Weight::Sampler;
    }
  }

  /// The application gave it up, and it is there for what libsplit has of it.
  bool isOnlyOurs(const Seen& seen) const {
    const Weight onParent =
        seen.weight == Weight::Program ? Weight::KernelOnProgram : Weight::PartOnBuffer;
    const long added =
        seen.children == 0 ? 0 : seen.children * counts_.weight(context_, onParent, example_.get());
    return seen.references == seen.drivers + added;
  }
};

template <class Handle>
long ReferenceCounts::withoutOurs(const References::View& view, Handle handle) const {
  return static_cast<long>(countOf(cl_, handle)) - view.driversOf(handle);
}

long ReferenceCounts::now(cl_context context) {
  Tally tally{*this, context};
  cl_.references.whileNothingChanges([&](const References::View& view) { tally.look(view); });
  const auto standIns = std::ranges::count_if(events_.standIns(), [&](const auto& each) {
    return contextOf(cl_, each.event.get()) == context;
  });
  const long count = tally.references();
  return standIns == 0 ? count
                       : count + standIns * (weight(context, Weight::Command) -
                                             weight(context, Weight::UserEvent));
}

long ReferenceCounts::now(cl_command_queue queue) {
  long count = 0;
  long more = std::ranges::count(events_.standIns(), queue, &EventTable::StandIn::queue);
  cl_.references.whileNothingChanges([&](const References::View& view) {
    count = withoutOurs(view, queue);
    view.each([&](const References::Object& object) {
      if (object.kind != Kind::Event)
        return;
      auto* event = static_cast<cl_event>(object.handle);
      if (queueOf(cl_, event) == queue && (object.isOwn || countOf(cl_, event) == object.drivers))
        --more;
    });
  });
  return more == 0 ? count : count + more * weight(contextOf(cl_, queue), Weight::CommandOnQueue);
}

long ReferenceCounts::now(cl_mem memory) {
  long count = 0, parts = 0;
  cl_.references.whileNothingChanges([&](const References::View& view) {
    count = withoutOurs(view, memory);
    parts = view.childrenOf(memory);
  });
  return parts == 0 ? count : count - parts * weight(contextOf(cl_, memory), Weight::PartOnBuffer);
}

long ReferenceCounts::now(cl_program program) {
  long count = 0, kernels = 0;
  Example example(cl_);
  cl_.references.whileNothingChanges([&](const References::View& view) {
    count = withoutOurs(view, program);
    kernels = view.childrenOf(program);
    if (kernels > 0)
      view.each([&](const References::Object& object) {
        if (object.kind == Kind::Kernel && object.parent == program)
          example.keep(static_cast<cl_kernel>(object.handle));
      });
  });
  return kernels == 0 ? count
                      : count - kernels * weight(contextOf(cl_, program), Weight::KernelOnProgram,
                                                 example.get());
}

template <class Handle> long ReferenceCounts::now(Handle handle) {
  long count = 0;
  cl_.references.whileNothingChanges(
      [&](const References::View& view) { count = withoutOurs(view, handle); });
  return count;
}

/// Until two answers are the same: what other threads are about to make is there before libsplit
/// holds it.
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
