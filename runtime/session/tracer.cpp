#include "runtime/session/tracer.h"

#include "analysis-pass/summary/serialize.h"
#include "runtime/session/launch.h"
#include "runtime/session/stream.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <unistd.h>

namespace libsplit::runtime {

namespace {

const char* callName(cl_command_type type) {
  switch (type) {
  case CL_COMMAND_NDRANGE_KERNEL:
    return "clEnqueueNDRangeKernel";
  case CL_COMMAND_TASK:
    return "clEnqueueTask";
  case CL_COMMAND_NATIVE_KERNEL:
    return "clEnqueueNativeKernel";
  case CL_COMMAND_READ_BUFFER:
    return "clEnqueueReadBuffer";
  case CL_COMMAND_WRITE_BUFFER:
    return "clEnqueueWriteBuffer";
  case CL_COMMAND_COPY_BUFFER:
    return "clEnqueueCopyBuffer";
  case CL_COMMAND_READ_BUFFER_RECT:
    return "clEnqueueReadBufferRect";
  case CL_COMMAND_WRITE_BUFFER_RECT:
    return "clEnqueueWriteBufferRect";
  case CL_COMMAND_COPY_BUFFER_RECT:
    return "clEnqueueCopyBufferRect";
  case CL_COMMAND_FILL_BUFFER:
    return "clEnqueueFillBuffer";
  case CL_COMMAND_MAP_BUFFER:
    return "clEnqueueMapBuffer";
  case CL_COMMAND_UNMAP_MEM_OBJECT:
    return "clEnqueueUnmapMemObject";
  case CL_COMMAND_MARKER:
    return "clEnqueueMarkerWithWaitList";
  case CL_COMMAND_BARRIER:
    return "clEnqueueBarrierWithWaitList";
  case CL_COMMAND_READ_IMAGE:
    return "clEnqueueReadImage";
  case CL_COMMAND_WRITE_IMAGE:
    return "clEnqueueWriteImage";
  case CL_COMMAND_COPY_IMAGE:
    return "clEnqueueCopyImage";
  case CL_COMMAND_FILL_IMAGE:
    return "clEnqueueFillImage";
  case CL_COMMAND_MAP_IMAGE:
    return "clEnqueueMapImage";
  case CL_COMMAND_MIGRATE_MEM_OBJECTS:
    return "clEnqueueMigrateMemObjects";
  case CL_COMMAND_COPY_IMAGE_TO_BUFFER:
    return "clEnqueueCopyImageToBuffer";
  case CL_COMMAND_COPY_BUFFER_TO_IMAGE:
    return "clEnqueueCopyBufferToImage";
  default:
    return "libsplit's own"; // verification, and going back home
  }
}

bool isTransfer(const TracedWork& work) {
  return work.track == TracedWork::Track::TransfersIn ||
         work.track == TracedWork::Track::TransfersOut;
}

/// False if what it depends on failed, or there was nothing to do.
bool wasDone(const TracedWork& work) {
  return work.after != 0 && work.done && !(isTransfer(work) && work.bytes == 0);
}

std::uint32_t thread() {
  thread_local const auto number = static_cast<std::uint32_t>(::gettid()); // which asks the system
  return number;
}

/// What says which bytes are used; empty: nothing of the argument does.
std::span<const std::byte> decidingValue(const Launch& launch, std::size_t parameter) {
  return launch.code->decidingScalars[parameter] ? launch.request.arguments[parameter].bytes
                                                 : std::span<const std::byte>();
}

} // namespace

void Tracer::open(const std::string& file, double minLaunchSeconds) {
  trace_ = Trace::open(file);
  if (!trace_)
    return;
  bytes_.begin(record::Options{{}, minLaunchSeconds});
  trace_->add(bytes_.finish());
}

void Tracer::close() {
  if (trace_)
    trace_->close();
}

std::shared_ptr<TracedWork> Tracer::work() {
  auto work = std::make_shared<TracedWork>();
  work->number = ++lastWork_;
  return work;
}

std::shared_ptr<TracedWork> Tracer::transfer(bool toHost, const Buffer& buffer, std::uint64_t bytes,
                                             Uncounted uncounted) {
  if (!trace_)
    return nullptr;
  auto work = this->work();
  work->buffer = numberOf(buffer);
  work->track = toHost ? TracedWork::Track::TransfersOut : TracedWork::Track::TransfersIn;
  work->name = trace_->text(toHost ? "to host" : "from host");
  work->bytes = bytes;
  work->uncounted = uncounted;
  return work;
}

std::shared_ptr<TracedWork> Tracer::command(const Task& task) {
  if (!trace_)
    return nullptr;
  auto work = this->work();
  const bool isKernel = task.call.kernel != 0;
  work->track = isKernel ? TracedWork::Track::Kernels : TracedWork::Track::Commands;
  work->name = isKernel ? task.call.kernel : task.call.name;
  return work;
}

std::shared_ptr<TracedWork> Tracer::step(const char* name) {
  if (!trace_)
    return nullptr;
  auto work = this->work();
  work->name = trace_->text(name);
  return work;
}

std::shared_ptr<TracedWork> Tracer::piece(const Launch& launch, const Piece& piece,
                                          unsigned dimension) {
  if (!trace_)
    return nullptr;
  auto work = this->work();
  work->track = TracedWork::Track::Kernels;
  work->name = nameOf(*launch.code);
  work->dimension = dimension;
  work->groupBegin = piece.ownBox().begin[dimension];
  work->groupEnd = piece.ownBox().end[dimension];
  work->groups = launch.range.groups(dimension);
  return work;
}

void Tracer::callBegins(Task& task, cl_command_type type, bool blocking) {
  if (!trace_)
    return;
  task.call.number = ++lastCall_;
  task.call.firstWork = lastWork_ + 1;
  std::uint32_t& name = callNames_[type];
  if (name == 0)
    name = trace_->text(callName(type));
  task.call.name = name;
  task.call.thread = thread();
  task.call.blocking = blocking;
  task.call.begin = task.call.end = hostNow();
}

void Tracer::callReturns(Task& task) const {
  if (trace_)
    task.call.end = hostNow();
}

void Tracer::launches(Task& task, const Launch& launch) {
  if (!trace_)
    return;
  task.call.kernel = nameOf(*launch.code);
  if (task.call.launch == 0 && launch.code->state == KernelCode::State::Ready)
    task.call.launch = numberOf(launch);
}

void Tracer::planned(Task& task, const Launch& launch) {
  if (!trace_)
    return;
  launches(task, launch);
  for (const auto& buffer : launch.buffers)
    holds(task, *buffer);
}

void Tracer::planned(Task& task, const Buffer& buffer, const ByteSet& bytes, bool writes) {
  if (!trace_ || bytes.empty())
    return;
  const ByteRange hull = bytes.hull();
  task.call.uses.push_back({numberOf(buffer), hull.begin, hull.end, writes});
  holds(task, buffer);
}

void Tracer::writesNatively(const Buffer& buffer, const ByteSet& bytes) {
  if (!trace_ || bytes.empty())
    return;
  const ByteRange hull = bytes.hull();
  const record::Use use{numberOf(buffer), hull.begin, hull.end, 1};
  bytes_.begin(record::NativeWrite{{}, hostNow(), thread(), use});
  trace_->add(bytes_.finish());
}

/// 0 where there was no room to describe it.
std::uint64_t Tracer::numberOf(const Buffer& buffer) {
  std::uint64_t& number = buffer.traced.number;
  if (number == 0) {
    bytes_.begin(record::Buffer{{}, lastBuffer_ + 1, buffer.size()});
    if (trace_->add(bytes_.finish()))
      number = ++lastBuffer_;
  }
  return number;
}

std::uint32_t Tracer::nameOf(KernelCode& code) {
  if (code.traced.name == 0)
    code.traced.name = trace_->text(code.name);
  return code.traced.name;
}

/// By its summaries, since a program may be built anew. Says of each on which devices it holds.
std::uint64_t Tracer::numberOf(KernelCode& code) {
  TracedCode& traced = code.traced;
  if (traced.number != 0 && std::ranges::equal(traced.summaries, code.summaries))
    return traced.number;
  traced.number = 0;
  const std::uint64_t number = ++lastCode_;
  const std::uint32_t name = nameOf(code);
  for (std::size_t i = 0; i < code.summaries.size(); ++i) {
    const KernelSummary* summary = code.summaries[i];
    const auto begin = code.summaries.begin();
    if (!summary || std::find(begin, begin + static_cast<std::ptrdiff_t>(i), summary) !=
                        begin + static_cast<std::ptrdiff_t>(i))
      continue;
    std::vector<std::uint64_t> devices;
    for (std::size_t d = i; d < code.summaries.size(); ++d)
      if (code.summaries[d] == summary)
        devices.push_back(d);
    ProgramSummary program;
    program.kernels.push_back(*summary);
    const std::string text = serialize(program);
    bytes_.begin(
        record::Kernel{{}, number, name, static_cast<std::uint32_t>(text.size()), devices.size()});
    bytes_.putText(text);
    bytes_.putAll<std::uint64_t>(devices);
    if (!trace_->add(bytes_.finish()))
      return 0;
  }
  traced.summaries.assign(code.summaries.begin(), code.summaries.end());
  return traced.number = number;
}

std::size_t Tracer::LaunchHash::operator()(const LaunchKey& key) const {
  std::uint64_t hash = 0;
  for (const std::uint64_t each : key) { // as FNV-1a, but by words
    hash = (hash ^ each) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

/// Of scalars only those count that decide about regions. The key is as long as it gets before it
/// is filled in: this is done for each launch.
std::uint64_t Tracer::numberOf(const Launch& launch) {
  const std::uint64_t code = numberOf(*launch.code);
  const NDRange& range = launch.range;
  std::size_t words = 1 + 3 * range.dimensions + 4 * launch.request.buffers.size();
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    words += record::padded(decidingValue(launch, i).size()) / 8;
  launchKey_.resize(words);
  std::uint64_t* next = launchKey_.data();
  *next++ = code;
  for (unsigned d = 0; d < range.dimensions; ++d)
    for (const std::uint64_t each : {range.offset[d], range.global[d], range.local[d]})
      *next++ = each;
  for (const BufferArgument& argument : launch.request.buffers) {
    const record::LaunchBuffer buffer = describe(launch, argument);
    for (const std::uint64_t each : {buffer.parameter, buffer.buffer, buffer.origin, buffer.size})
      *next++ = each;
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    if (const auto value = decidingValue(launch, i); !value.empty()) {
      const std::size_t taken = record::padded(value.size()) / 8;
      next[taken - 1] = 0;
      std::memcpy(next, value.data(), value.size());
      next += taken;
    }
  if (const auto found = launches_.find(launchKey_); found != launches_.end())
    return found->second;
  if (code == 0 || !describe(launch, lastLaunch_ + 1, code))
    return 0;
  return launches_[launchKey_] = ++lastLaunch_;
}

record::LaunchBuffer Tracer::describe(const Launch& launch, const BufferArgument& argument) {
  return {argument.parameter, numberOf(*launch.buffers[argument.buffer]), argument.origin,
          launch.request.arguments[argument.parameter].bufferSize};
}

bool Tracer::describe(const Launch& launch, std::uint64_t number, std::uint64_t code) {
  std::string classes;
  for (const int each : launch.key.classes)
    classes += (classes.empty() ? "" : " ") + std::to_string(each);
  std::vector<std::uint64_t> lengths;
  std::vector<std::byte> values;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const auto value = decidingValue(launch, i);
    lengths.push_back(value.size());
    values.insert(values.end(), value.begin(), value.end());
  }
  std::vector<record::LaunchBuffer> buffers;
  for (const BufferArgument& argument : launch.request.buffers)
    buffers.push_back(describe(launch, argument));
  auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  bytes_.begin(record::Launch{{},
                              number,
                              code,
                              trace_->text(launch.key.range),
                              trace_->text(classes),
                              launch.range.dimensions,
                              count(lengths),
                              count(values),
                              count(buffers)});
  for (const auto& sizes : {launch.range.offset, launch.range.global, launch.range.local})
    bytes_.putAll(std::span(sizes).first(launch.range.dimensions));
  bytes_.putAll<std::uint64_t>(lengths);
  bytes_.putAll<std::byte>(values);
  bytes_.fillUp();
  bytes_.putAll<record::LaunchBuffer>(buffers);
  return trace_->add(bytes_.finish());
}

/// Where it has changed since the last task that was planned.
void Tracer::holds(Task& task, const Buffer& buffer) {
  if (!buffer.engaged())
    return;
  const std::uint64_t number = numberOf(buffer);
  const Directory::State& state = buffer.directory().state();
  std::vector<std::uint64_t>& held = buffer.traced.held;
  bool isNew = held.size() != state.size();
  held.resize(state.size());
  for (std::size_t node = 0; node < state.size(); ++node)
    if (const std::uint64_t bytes = state[node].size(); isNew || held[node] != bytes) {
      held[node] = bytes;
      isNew = true;
    }
  if (!isNew)
    return;
  auto append = [&](const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    task.call.holdings.insert(task.call.holdings.end(), first, first + size);
  };
  const record::Holding holding{number, held.size()};
  append(&holding, sizeof holding);
  append(held.data(), held.size() * sizeof held[0]);
  ++task.call.holdingCount;
}

void Tracer::native(const std::string& kernel, std::string_view why,
                    std::span<const Device> devices) {
  if (!trace_)
    return;
  describe(devices);
  bytes_.begin(record::Native{{}, hostNow(), thread(), trace_->text(kernel), trace_->text(why), 0});
  trace_->add(bytes_.finish());
}

void Tracer::describe(std::span<const Device> devices) {
  if (!programNamed_) {
    bytes_.begin(record::Program{
        {}, trace_->text(::program_invocation_short_name), static_cast<std::uint32_t>(::getpid())});
    programNamed_ = trace_->add(bytes_.finish());
  }
  for (; described_ < devices.size(); ++described_) {
    const Device& device = devices[described_];
    auto number = [](auto value) { return static_cast<std::uint32_t>(value); };
    auto flag = [](bool value) { return static_cast<std::uint8_t>(value); };
    bytes_.begin(record::Device{{},
                                number(described_),
                                trace_->text(device.label),
                                trace_->text(device.name),
                                number(device.node),
                                number(device.computeUnits),
                                number(device.megahertz),
                                flag(device.isGpu),
                                flag(device.isHome),
                                flag(device.participates),
                                {}});
    if (!trace_->add(bytes_.finish()))
      break;
  }
}

void Tracer::retired(Task& task, std::span<const Device> devices) {
  if (!trace_)
    return;
  describe(devices);
  recordTask(task, false);
}

void Tracer::arrived(Task& task) {
  if (trace_)
    recordTask(task, true);
}

void Tracer::recordTask(Task& task, bool isAhead) {
  const TracedCall& call = task.call;
  auto count = [](auto number) { return static_cast<std::uint32_t>(number); };
  record::Task fixed{{},
                     call.number,
                     call.begin,
                     call.end,
                     hostNow(),
                     call.launch,
                     call.name,
                     call.kernel,
                     call.reason.empty() ? 0 : trace_->text(call.reason),
                     call.thread,
                     isAhead ? 0 : count(call.uses.size()),
                     0,
                     isAhead ? 0 : call.holdingCount,
                     isAhead,
                     {}};
  if (call.blocking)
    fixed.end = fixed.retired;
  for (const auto& work : task.traced)
    fixed.works += wasDone(*work);
  bytes_.begin(fixed);
  if (!isAhead)
    bytes_.putAll<record::Use>(call.uses);
  for (const auto& work : task.traced) {
    if (!wasDone(*work))
      continue;
    const bool isTransfer = runtime::isTransfer(*work);
    const std::optional<DeviceInterval> interval = work->done->interval();
    const auto queued = work->done->profilingTime(CL_PROFILING_COMMAND_QUEUED);
    bytes_.put(record::Work{
        work->number, work->before, work->after, queued.value_or(0), interval ? interval->start : 0,
        interval ? interval->end : 0, isTransfer ? work->buffer : work->groupBegin,
        isTransfer ? work->bytes : work->groupEnd, work->groups, work->name, count(work->device),
        count(work->dependsOn.size()), static_cast<std::uint8_t>(work->track),
        static_cast<std::uint8_t>(work->dimension), work->overOnReturn,
        static_cast<std::uint8_t>(work->uncounted)});
    bytes_.putAll<std::uint64_t>(work->dependsOn);
  }
  if (!isAhead)
    bytes_.putAll<std::byte>(call.holdings);
  trace_->add(bytes_.finish());
  task.traced.clear(); // their ends are held no longer than others are
}

} // namespace libsplit::runtime
