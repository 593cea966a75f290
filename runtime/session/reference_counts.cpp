#include "runtime/session/reference_counts.h"

#include "runtime/core/completion.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <type_traits>
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

/// By how much counts that nobody else changes grow with an object that `make` makes, and that goes
/// with who owns it: what two more tries say than anything else, since drivers may let go of things
/// meanwhile. Nothing if none is said so often, or none can be made.
template <class Counts, class Make>
auto growthOf(const Counts& counts, const Make& make) -> std::optional<decltype(counts())> {
  constexpr int tries = 64, moreOften = 2;
  std::map<decltype(counts()), int> said;
  for (int i = 0; i < tries; ++i) {
    const auto before = counts();
    auto growth = before;
    {
      const auto made = make();
      if (!made)
        return std::nullopt;
      growth = counts();
    }
    for (std::size_t each = 0; each < growth.size(); ++each)
      growth[each] -= before[each];
    int otherwise = 0;
    for (const auto& [other, often] : said)
      if (other != growth)
        otherwise = std::max(otherwise, often);
    if (++said[growth] - otherwise >= moreOften)
      return growth;
  }
  return std::nullopt;
}

/// How long is waited for another thread's measurement.
constexpr std::chrono::milliseconds othersPatience(100);

} // namespace

/// The only one at a time. Counted when it begins and when it is over. False if another goes on.
class ReferenceCounts::Measurement {
public:
  explicit Measurement(ReferenceCounts& counts)
      : counts_(counts), isOurs_(counts.measuring_.try_acquire_for(othersPatience)) {
    if (!isOurs_)
      return;
    ++counts_.measurements_;
    counts_.measurer_ = std::this_thread::get_id();
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;
  ~Measurement() {
    if (!isOurs_)
      return;
    counts_.measurer_ = std::thread::id();
    ++counts_.measurements_;
    counts_.measuring_.release();
  }
  explicit operator bool() const { return isOurs_; }

private:
  ReferenceCounts& counts_;
  const bool isOurs_;
};

namespace {

/// Owns what a driver made; released by it.
template <class Handle, class Release> auto owned(Handle handle, Release release) {
  return std::unique_ptr<std::remove_pointer_t<Handle>, Release>(handle, release);
}

} // namespace

cl_device_id ReferenceCounts::deviceOf(cl_context context) const {
  const auto devices =
      arrayProperty<cl_device_id>(cl_.clGetContextInfo, context, CL_CONTEXT_DEVICES);
  return devices.empty() ? nullptr : devices.front();
}

std::optional<long> ReferenceCounts::known(cl_device_id device, Weight weight) {
  const auto platform = property<cl_platform_id>(cl_.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  const std::lock_guard lock(mutex_);
  const auto found = weights_.find({platform, weight});
  if (found == weights_.end() ||
      (found->second.until && *found->second.until < std::chrono::steady_clock::now()))
    return std::nullopt;
  return found->second.growth;
}

long ReferenceCounts::weight(cl_context context, Weight weight, cl_kernel example) {
  cl_device_id device = deviceOf(context);
  if (const auto before = known(device, weight))
    return *before;
  const bool isOfKernels = weight == Weight::Kernel || weight == Weight::KernelOnProgram;
  if (isOfKernels && !example)
    return 0;
  const Measurement underWay(*this);
  if (const auto before = known(device, weight)) // meanwhile
    return *before;
  if (!underWay)
    return 0;
  bool isSettled = true;
  std::map<Weight, long> measured =
      isOfKernels ? measureAsOf(example, context) : measure(device, weight, isSettled);
  isSettled = isSettled && !measured.empty();
  measured.try_emplace(weight, 0);
  constexpr std::chrono::seconds soon(1);
  const auto until =
      isSettled ? std::nullopt : std::optional(std::chrono::steady_clock::now() + soon);
  const auto platform = property<cl_platform_id>(cl_.clGetDeviceInfo, device, CL_DEVICE_PLATFORM);
  const std::lock_guard lock(mutex_);
  for (const auto& [each, growth] : measured)
    weights_[{platform, each}] = {growth, until};
  return measured.at(weight);
}

/// Without Refs: these objects are nobody's to count. In a context that nobody else has. Of what a
/// driver refuses to make nothing is said. `isSettled` becomes false where a command did not end.
std::map<ReferenceCounts::Weight, long> ReferenceCounts::measure(cl_device_id device, Weight weight,
                                                                 bool& isSettled) const {
  using Counts = std::vector<long>;
  cl_int error = CL_SUCCESS;
  const auto context = owned(cl_.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error),
                             cl_.clReleaseContext);
  if (!context)
    return {};
  const auto onContext = [&] { return Counts{countOf(cl_, context.get())}; };
  const auto buffer = [&] {
    constexpr std::size_t bytes = 64;
    return owned(cl_.clCreateBuffer(context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &error),
                 cl_.clReleaseMemObject);
  };
  const auto queue = [&] {
    return owned(cl_.clCreateCommandQueue(context.get(), device, 0, &error),
                 cl_.clReleaseCommandQueue);
  };
  const auto one = [&](const auto& make) -> std::map<Weight, long> {
    const auto growth = growthOf(onContext, make);
    return growth ? std::map<Weight, long>{{weight, (*growth)[0]}} : std::map<Weight, long>{};
  };
  /// Of what is made of `whole`, which counts it as well.
  const auto both = [&](auto* whole, const auto& make, Weight of,
                        Weight on) -> std::map<Weight, long> {
    const auto growth =
        growthOf([&] { return Counts{countOf(cl_, context.get()), countOf(cl_, whole)}; }, make);
    return growth ? std::map<Weight, long>{{of, (*growth)[0]}, {on, (*growth)[1]}}
                  : std::map<Weight, long>{};
  };
  switch (weight) {
  case Weight::Memory:
    return one(buffer);
  case Weight::Queue:
    return one(queue);
  case Weight::Program:
    return one([&] {
      const char* text = "";
      return owned(cl_.clCreateProgramWithSource(context.get(), 1, &text, nullptr, &error),
                   cl_.clReleaseProgram);
    });
  case Weight::Sampler:
    return one([&] {
      return owned(
          cl_.clCreateSampler(context.get(), CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error),
          cl_.clReleaseSampler);
    });
  case Weight::UserEvent:
    return one([&] {
      auto made = owned(cl_.clCreateUserEvent(context.get(), &error), cl_.clReleaseEvent);
      if (made)
        cl_.clSetUserEventStatus(made.get(), CL_COMPLETE);
      return made;
    });
  case Weight::Part:
  case Weight::PartOnBuffer: {
    const auto whole = buffer();
    if (!whole)
      return {};
    const auto part = [&] {
      const cl_buffer_region region{0, 1};
      return owned(cl_.clCreateSubBuffer(whole.get(), CL_MEM_READ_WRITE,
                                         CL_BUFFER_CREATE_TYPE_REGION, &region, &error),
                   cl_.clReleaseMemObject);
    };
    return both(whole.get(), part, Weight::Part, Weight::PartOnBuffer);
  }
  case Weight::Command:
  case Weight::CommandOnQueue: {
    const auto runs = queue();
    if (!runs)
      return {};
    const auto command = [&] {
      cl_event event = nullptr;
      cl_.clEnqueueMarkerWithWaitList(runs.get(), 0, nullptr, &event);
      auto made = owned(event, cl_.clReleaseEvent);
      cl_.clFlush(runs.get());
      // In a callback it is perhaps this thread that it needs, or it is behind others for long.
      constexpr int patience = 100;
      constexpr std::chrono::microseconds pause(50);
      int pauses = 0;
      for (; made && executionStatus(cl_, event) > CL_COMPLETE && pauses < patience; ++pauses)
        std::this_thread::sleep_for(pause);
      isSettled = isSettled && pauses < patience;
      return made;
    };
    return both(runs.get(), command, Weight::Command, Weight::CommandOnQueue);
  }
  case Weight::Kernel:
  case Weight::KernelOnProgram: // see measureAsOf
    break;
  }
  return {};
}

/// By others like that: nothing is built for them. The program's other threads may be at work on
/// the same, so it is by many at once, beside which what others make and give back meanwhile is
/// little.
std::map<ReferenceCounts::Weight, long> ReferenceCounts::measureAsOf(cl_kernel kernel,
                                                                     cl_context context) const {
  constexpr int tries = 8;
  constexpr long many = 64, few = many / 4;
  cl_int error = CL_SUCCESS;
  auto* of = property<cl_program>(cl_.clGetKernelInfo, kernel, CL_KERNEL_PROGRAM);
  const std::string name = stringProperty(cl_.clGetKernelInfo, kernel, CL_KERNEL_FUNCTION_NAME);
  using Counts = std::array<long, 2>;
  const auto counts = [&] { return Counts{countOf(cl_, context), countOf(cl_, of)}; };
  const auto another = [&] {
    return owned(cl_.clCreateKernel(of, name.c_str(), &error), cl_.clReleaseKernel);
  };
  for (int i = 0; i < tries; ++i) {
    const Counts before = counts();
    std::vector<decltype(another())> made;
    while (std::ssize(made) < many) {
      made.push_back(another());
      if (!made.back())
        return {};
    }
    const Counts with = counts();
    made.clear();
    const Counts after = counts();
    Counts each{};
    bool isClear = true;
    for (std::size_t at = 0; at < each.size(); ++at) {
      const long twice = 2 * with[at] - before[at] - after[at]; // made, and given back
      each[at] = std::lround(static_cast<double>(twice) / (2 * many));
      isClear = isClear && std::abs(twice - 2 * many * each[at]) <= few &&
                std::abs(after[at] - before[at]) <= few;
    }
    if (isClear)
      return {{Weight::Kernel, each[0]}, {Weight::KernelOnProgram, each[1]}};
  }
  return {};
}

/// A kernel that is kept while it may be needed to find out what kernels add.
class ReferenceCounts::Example {
public:
  /// `wanted`: whether that is still to be found out. To keep one has the driver refuse builds.
  Example(const Dispatch& cl, bool wanted) : cl_(cl), wanted_(wanted) {}
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;
  ~Example() {
    if (kernel_)
      cl_.clReleaseKernel(kernel_);
  }
  cl_kernel get() const { return kernel_; }
  /// Without a Ref, for whose locks the caller holds.
  void keep(cl_kernel kernel) {
    if (wanted_ && !kernel_ && cl_.clRetainKernel(kernel) == CL_SUCCESS)
      kernel_ = kernel;
  }

private:
  const Dispatch& cl_;
  const bool wanted_;
  cl_kernel kernel_ = nullptr;
};

/// Looks at what libsplit holds in a context while nothing of it changes, and reckons afterwards,
/// when weights can be measured, what of that would not be there natively.
class ReferenceCounts::Tally {
public:
  Tally(ReferenceCounts& counts, cl_context context)
      : counts_(counts), context_(context),
        addedToQueues_(counts.known(counts.deviceOf(context), Weight::CommandOnQueue)),
        example_(counts.cl_, !counts.known(counts.deviceOf(context), Weight::Kernel)) {}

  /// Whether to look again once it is known if events keep their queues (CommandOnQueue): it
  /// matters.
  bool lacksQueues() const { return lacksQueues_; }

  void look(const References::View& view) {
    const Dispatch& cl = counts_.cl_;
    references_ = counts_.withoutOurs(view, context_);
    view.each([&](const References::Object& object) {
      if (!object.context)
        object.context = ofHandle(object, [&](auto handle) { return contextOf(cl, handle); });
      if (!object.context || object.context != context_)
        return;
      const Seen& seen =
          see(view, object.handle,
              {weightOf(object), object.isOwn, static_cast<long>(object.drivers),
               ofHandle(object, [&](auto handle) { return long{countOf(cl, handle)}; })});
      if (object.kind == Kind::Kernel && object.isOwn) {
        example_.keep(static_cast<cl_kernel>(object.handle));
        if (auto* program = static_cast<cl_program>(object.parent)) // is there, since its kernel is
          see(view, program, {Weight::Program, false, 0, long{countOf(cl, program)}});
      }
      // Perhaps nobody else does.
      if (seen.weight != Weight::Command || !(seen.isOwn || seen.references == seen.drivers))
        return;
      lacksQueues_ = lacksQueues_ || !addedToQueues_;
      if (addedToQueues_.value_or(0) > 0) {
        auto* queue = queueOf(cl, static_cast<cl_event>(object.handle));
        ++see(view, queue, {Weight::Queue, false, 0, long{countOf(cl, queue)}}).children;
      }
    });
  }

  /// `standIns`: natively some keep their queues.
  long references(const std::vector<EventTable::StandIn>& standIns) const {
    long count = references_;
    for (const auto& [handle, seen] : seen_) {
      const bool isKept =
          seen.weight == Weight::Queue &&
          std::ranges::find(standIns, handle, &EventTable::StandIn::queue) != standIns.end() &&
          counts_.weight(context_, Weight::CommandOnQueue) > 0;
      if (seen.isOwn || (isOnlyOurs(seen) && !isKept))
        count -= counts_.weight(context_, seen.weight, example_.get());
    }
    return count;
  }

private:
  struct Seen {
    Weight weight;
    bool isOwn;
    long drivers;      ///< references that are libsplit's
    long references;   ///< all of them
    long children = 0; ///< objects that keep it, and are there for libsplit alone
  };

  ReferenceCounts& counts_;
  const cl_context context_;
  const std::optional<long> addedToQueues_; ///< by a command's event, where that is known
  bool lacksQueues_ = false;
  long references_ = 0;
  std::map<void*, Seen> seen_;
  Example example_;

  /// What is held of it is known when it is visited itself.
  Seen& see(const References::View& view, void* handle, Seen seen) {
    const auto [at, isNew] = seen_.try_emplace(handle, seen);
    if (isNew)
      at->second.children = view.childrenOf(handle);
    at->second.isOwn |= seen.isOwn;
    at->second.drivers = std::max(at->second.drivers, seen.drivers);
    return at->second;
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
    const Weight onParent = seen.weight == Weight::Program ? Weight::KernelOnProgram
                            : seen.weight == Weight::Queue ? Weight::CommandOnQueue
                                                           : Weight::PartOnBuffer;
    const long added =
        seen.children == 0 ? 0 : seen.children * counts_.weight(context_, onParent, example_.get());
    return seen.references > 0 && seen.references == seen.drivers + added;
  }
};

template <class Handle>
long ReferenceCounts::withoutOurs(const References::View& view, Handle handle) const {
  return static_cast<long>(countOf(cl_, handle)) - view.driversOf(handle);
}

long ReferenceCounts::now(cl_context context) {
  std::optional<Tally> tally;
  const auto look = [&] {
    tally.emplace(*this, context);
    cl_.references.whileNothingChanges([&](const References::View& view) { tally->look(view); });
  };
  look();
  if (tally->lacksQueues()) {
    static_cast<void>(weight(context, Weight::CommandOnQueue));
    look();
  }
  const std::vector<EventTable::StandIn> standIns = events_.standIns();
  const auto here = std::ranges::count_if(
      standIns, [&](const auto& each) { return contextOf(cl_, each.event.get()) == context; });
  const long count = tally->references(standIns);
  return here == 0 ? count
                   : count + here * (weight(context, Weight::Command) -
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
  Example example(cl_, !known(deviceOf(contextOf(cl_, program)), Weight::KernelOnProgram));
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
/// holds it, or to find out what one adds.
template <class Handle> cl_uint ReferenceCounts::of(Handle handle) {
  constexpr int often = 100;
  if (measurer_ == std::this_thread::get_id()) // a driver calls back whom it likes
    return countOf(cl_, handle);
  if (measurements_ % 2 != 0 && measuring_.try_acquire_for(othersPatience))
    measuring_.release();
  long count = now(handle);
  for (int i = 0; i < often; ++i) {
    const unsigned measurements = measurements_;
    const long before = std::exchange(count, now(handle));
    if (before == count && measurements_ == measurements && measurements % 2 == 0)
      break;
  }
  return static_cast<cl_uint>(std::max(count, 0L)); // none are left of an object that is going
}

template cl_uint ReferenceCounts::of(cl_context);
template cl_uint ReferenceCounts::of(cl_command_queue);
template cl_uint ReferenceCounts::of(cl_mem);
template cl_uint ReferenceCounts::of(cl_program);
template cl_uint ReferenceCounts::of(cl_kernel);
template cl_uint ReferenceCounts::of(cl_sampler);
template cl_uint ReferenceCounts::of(cl_event);

} // namespace libsplit::runtime
