#include "runtime/session/tracer.h"

#include "analysis-pass/summary/serialize.h"
#include "runtime/session/launch.h"
#include "runtime/session/stream.h"

#include <algorithm>
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

bool isPiece(const TracedWork& work) {
  return work.track == TracedWork::Track::Kernels && work.groups > 0;
}

Trace::Arguments argumentsOf(const TracedWork& work, const TracedCall& call) {
  Trace::Arguments arguments;
  if (isPiece(work)) {
    arguments.emplace_back("groups", work.groupEnd - work.groupBegin);
    arguments.emplace_back("first_group", work.groupBegin);
    arguments.emplace_back("all_groups", work.groups);
    arguments.emplace_back("dimension", std::uint64_t{work.dimension});
    if (!call.reason.empty())
      arguments.emplace_back("unsplit", call.reason);
  } else if (work.track == TracedWork::Track::Kernels) {
    arguments.emplace_back("unsplit", call.reason);
  } else if (work.track != TracedWork::Track::Commands) {
    arguments.emplace_back("bytes", work.bytes);
    if (work.buffer != 0)
      arguments.emplace_back("buffer", work.buffer);
    if (work.uncounted)
      arguments.emplace_back(work.uncounted, std::uint64_t{1});
  }
  return arguments;
}

} // namespace

void Tracer::open(const std::string& file, double minLaunchSeconds) {
  trace_ = Trace::open(file);
  if (trace_)
    trace_->metadata(Trace::application, "libsplit_options",
                     {{"min_launch_us", minLaunchSeconds * 1e6}});
}

void Tracer::close() {
  if (trace_)
    trace_->close();
}

std::shared_ptr<TracedWork> Tracer::transfer(bool toHost, const Buffer& buffer, std::uint64_t bytes,
                                             const char* uncounted) {
  if (!trace_)
    return nullptr;
  auto work = std::make_shared<TracedWork>();
  work->buffer = numberOf(buffer);
  work->track = toHost ? TracedWork::Track::TransfersOut : TracedWork::Track::TransfersIn;
  work->name = toHost ? "to host" : "from host";
  work->bytes = bytes;
  work->uncounted = uncounted;
  return work;
}

std::shared_ptr<TracedWork> Tracer::command(const Task& task) const {
  if (!trace_)
    return nullptr;
  auto work = std::make_shared<TracedWork>();
  const bool isKernel = !task.call.kernel.empty();
  work->track = isKernel ? TracedWork::Track::Kernels : TracedWork::Track::Commands;
  work->name = isKernel ? task.call.kernel : task.call.name;
  return work;
}

std::shared_ptr<TracedWork> Tracer::step(const char* name) const {
  if (!trace_)
    return nullptr;
  auto work = std::make_shared<TracedWork>();
  work->name = name;
  return work;
}

std::shared_ptr<TracedWork> Tracer::piece(const Launch& launch, const Piece& piece,
                                          unsigned dimension) const {
  if (!trace_)
    return nullptr;
  auto work = std::make_shared<TracedWork>();
  work->track = TracedWork::Track::Kernels;
  work->name = launch.code->name;
  work->dimension = dimension;
  work->groupBegin = piece.box.begin[dimension];
  work->groupEnd = piece.box.end[dimension];
  work->groups = launch.range.groups(dimension);
  return work;
}

void Tracer::callBegins(Task& task, cl_command_type type, bool blocking) const {
  if (!trace_)
    return;
  task.call.name = callName(type);
  task.call.thread = ::gettid();
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
  task.call.kernel = launch.code->name;
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
  const std::vector<std::vector<std::uint64_t>> uses{{numberOf(buffer), hull.begin, hull.end, 1}};
  trace_->instant(Trace::application, ::gettid(), "native write", hostNow(), {{"uses", uses}});
}

std::uint64_t Tracer::numberOf(const Buffer& buffer) {
  const auto [found, isNew] = buffers_.try_emplace(buffer.weak_from_this(), lastBuffer_ + 1);
  if (isNew) {
    const std::uint64_t bytes = buffer.size();
    trace_->metadata(Trace::application, "libsplit_buffer",
                     {{"buffer", ++lastBuffer_}, {"size", bytes}});
  }
  return found->second;
}

/// Says of each of its summaries on which devices it holds.
std::uint64_t Tracer::numberOf(const std::shared_ptr<KernelCode>& code) {
  Code& known = codes_[code];
  if (known.number != 0 && known.summaries == code->summaries)
    return known.number;
  known = {++lastCode_, code->summaries};
  for (std::size_t i = 0; i < code->summaries.size(); ++i) {
    const KernelSummary* summary = code->summaries[i];
    const auto begin = code->summaries.begin();
    if (!summary || std::find(begin, begin + static_cast<std::ptrdiff_t>(i), summary) !=
                        begin + static_cast<std::ptrdiff_t>(i))
      continue;
    std::vector<std::uint64_t> devices;
    for (std::size_t d = i; d < code->summaries.size(); ++d)
      if (code->summaries[d] == summary)
        devices.push_back(d);
    ProgramSummary program;
    program.kernels.push_back(*summary);
    trace_->metadata(Trace::application, "libsplit_kernel",
                     {{"code", known.number},
                      {"kernel", code->name},
                      {"devices", devices},
                      {"summary", serialize(program)}});
  }
  return known.number;
}

/// Of scalars only those count that decide about regions.
std::uint64_t Tracer::numberOf(const Launch& launch) {
  std::string key;
  auto add = [&key](const auto& value) {
    static_assert(std::is_trivially_copyable_v<std::decay_t<decltype(value)>>);
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  auto decidingValue = [&](std::size_t i) {
    return launch.code->decidingScalars[i] ? launch.request.arguments[i].bytes
                                           : std::span<const std::byte>();
  };
  const std::uint64_t code = numberOf(launch.code);
  add(code);
  for (unsigned d = 0; d < launch.range.dimensions; ++d)
    for (const std::uint64_t each :
         {launch.range.offset[d], launch.range.global[d], launch.range.local[d]})
      add(each);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    for (const std::byte each : decidingValue(i))
      add(each);
  std::vector<std::vector<std::uint64_t>> buffers;
  for (const BufferArgument& argument : launch.request.buffers) {
    buffers.push_back({argument.parameter, numberOf(*launch.buffers[argument.buffer]),
                       argument.origin, launch.request.arguments[argument.parameter].bufferSize});
    for (const std::uint64_t each : buffers.back())
      add(each);
  }
  const auto [found, isNew] = launches_.try_emplace(std::move(key), launches_.size() + 1);
  if (!isNew)
    return found->second;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    std::string& value = values.emplace_back();
    for (const std::byte each : decidingValue(i)) {
      const auto byte = std::to_integer<unsigned>(each);
      value += {"0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]};
    }
  }
  auto ofRange = [&](const std::array<std::uint64_t, 3>& numbers) {
    return std::span<const std::uint64_t>(numbers).first(launch.range.dimensions);
  };
  std::string classes;
  for (const int each : launch.key.classes)
    classes += (classes.empty() ? "" : " ") + std::to_string(each);
  trace_->metadata(Trace::application, "libsplit_launch",
                   {{"launch", found->second},
                    {"code", code},
                    {"range", launch.key.range},
                    {"classes", classes},
                    {"offset", ofRange(launch.range.offset)},
                    {"global", ofRange(launch.range.global)},
                    {"local", ofRange(launch.range.local)},
                    {"values", values},
                    {"buffers", buffers}});
  return found->second;
}

void Tracer::holds(Task& task, const Buffer& buffer) {
  if (!buffer.engaged())
    return;
  const std::uint64_t number = numberOf(buffer);
  TracedHolding holding{number, {}};
  for (const ByteSet& valid : buffer.directory().state())
    holding.bytes.push_back(valid.size());
  for (TracedHolding& each : task.call.holdings)
    if (each.buffer == number) {
      each = std::move(holding);
      return;
    }
  task.call.holdings.push_back(std::move(holding));
}

/// Where it has changed.
void Tracer::showHoldings(const Task& task, std::span<const Device> devices) {
  for (const TracedHolding& holding : task.call.holdings) {
    std::vector<std::uint64_t>& shown = shown_[holding.buffer];
    if (shown == holding.bytes)
      continue;
    shown = holding.bytes;
    Trace::Arguments bytes;
    for (NodeId node = 0; node < shown.size(); ++node) {
      const auto device = std::ranges::find(devices, node, &Device::node);
      if (node == hostNode || device != devices.end())
        bytes.emplace_back(node == hostNode ? "host" : device->label, shown[node]);
    }
    trace_->counter(Trace::application, "bytes of buffer " + std::to_string(holding.buffer),
                    hostNow(), std::move(bytes));
  }
}

void Tracer::native(const std::string& kernel, const std::string& why,
                    std::span<const Device> devices) {
  if (!trace_)
    return;
  nameDevices(devices);
  trace_->instant(Trace::application, ::gettid(), kernel, hostNow(), {{"native", why}});
}

void Tracer::nameDevices(std::span<const Device> devices) {
  if (!std::exchange(applicationNamed_, true))
    trace_->nameProcess(Trace::application, std::string(::program_invocation_short_name) + " (" +
                                                std::to_string(::getpid()) + ")");
  for (; named_ < devices.size(); ++named_) {
    const Device& device = devices[named_];
    trace_->nameProcess(Trace::firstDevice + static_cast<int>(named_),
                        device.label + " " + device.name + (device.isHome ? ", home" : ""));
    auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
    trace_->metadata(Trace::firstDevice + static_cast<int>(named_), "libsplit_device",
                     {{"label", device.label},
                      {"node", number(device.node)},
                      {"gpu", number(device.isGpu)},
                      {"home", number(device.isHome)},
                      {"participates", number(device.participates)},
                      {"compute_units", number(device.computeUnits)},
                      {"megahertz", number(device.megahertz)}});
  }
}

void Tracer::retired(const Task& task, std::span<const Device> devices) {
  if (!trace_)
    return;
  nameDevices(devices);
  const TracedCall& call = task.call;
  const HostTime now = hostNow();
  Trace::Arguments arguments;
  if (!call.kernel.empty())
    arguments.emplace_back("kernel", call.kernel);
  if (call.launch != 0)
    arguments.emplace_back("launch", call.launch);
  std::vector<std::vector<std::uint64_t>> uses;
  for (const TracedUse& use : call.uses)
    uses.push_back({use.buffer, use.begin, use.end, use.writes});
  if (!uses.empty())
    arguments.emplace_back("uses", uses);
  trace_->slice(Trace::application, call.thread, call.name, call.begin,
                call.blocking ? now : call.end, std::move(arguments));
  balance(task, work(task), devices);
  showHoldings(task, devices);
}

HostTime Tracer::work(const Task& task) {
  const TracedCall& call = task.call;
  const HostTime now = hostNow();
  if (!trace_)
    return now;
  HostTime launched = now;
  std::map<const Completion*, std::uint64_t> numbers; // of what was issued for the call
  for (const auto& before : task.waitTasks)           // the launch that something is sent ahead of
    for (const auto& work : before->traced)
      if (work->number != 0)
        numbers.try_emplace(work->done.get(), work->number);
  for (const auto& work : task.traced)
    if (work->done)
      numbers.try_emplace(work->done.get(), work->number = ++lastWork_);
  for (const auto& work : task.traced) {
    const bool moves = work->track == TracedWork::Track::TransfersIn ||
                       work->track == TracedWork::Track::TransfersOut;
    if (work->after == 0 || !work->done || (moves && work->bytes == 0))
      continue; // what it depends on failed, or there was nothing to do
    // Without times of the device: between the enqueuing and when its end was noticed.
    HostTime begin = work->before, end = work->overOnReturn ? work->after : now;
    HostTime uncertainty = now - begin;
    auto queued = work->done->profilingTime(CL_PROFILING_COMMAND_QUEUED);
    auto interval = work->done->interval();
    if (queued && interval && *queued != 0 && *queued <= interval->start &&
        interval->start <= interval->end) {
      DeviceClock& clock = trace_->clock(work->device);
      clock.observe(*queued, work->before, work->after);
      begin = clock.toHost(interval->start);
      end = begin + static_cast<HostTime>(interval->end - interval->start);
      uncertainty = clock.uncertainty();
    }
    const int process = Trace::firstDevice + static_cast<int>(work->device);
    const int thread = trace_->freeThread(process, work->track, begin, end, uncertainty);
    Trace::Arguments arguments = argumentsOf(*work, call);
    arguments.emplace_back("work", work->number);
    std::vector<std::uint64_t> after;
    for (const Completion* before : work->dependsOn)
      if (const auto found = numbers.find(before);
          found != numbers.end() && std::ranges::find(after, found->second) == after.end())
        after.push_back(found->second);
    if (!after.empty())
      arguments.emplace_back("after", after);
    arguments.emplace_back("enqueued_us_before",
                           static_cast<double>(std::max<HostTime>(begin - work->before, 0)) * 1e-3);
    trace_->slice(process, thread, work->name, begin, end, std::move(arguments));
    trace_->arrow(Trace::application, call.thread, call.begin, process, thread, begin);
    launched = std::min(launched, begin);
  }
  return launched;
}

void Tracer::balance(const Task& task, HostTime at, std::span<const Device> devices) {
  std::vector<double> groups(devices.size()), seconds(devices.size());
  const TracedWork* piece = nullptr;
  for (const auto& work : task.traced)
    if (isPiece(*work)) {
      piece = work.get();
      groups[work->device] += static_cast<double>(work->groupEnd - work->groupBegin);
    }
  if (!piece)
    return;
  for (const auto& work : task.traced)
    if (auto interval = work->done ? work->done->interval() : std::nullopt)
      seconds[work->device] += interval->seconds();
  Trace::Arguments shares;
  double slowest = 0, sum = 0, busy = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string& label = devices[i].label;
    shares.emplace_back(label, groups[i] / static_cast<double>(piece->groups));
    slowest = std::max(slowest, seconds[i]);
    sum += groups[i] > 0 ? seconds[i] : 0;
    busy += groups[i] > 0;
  }
  trace_->counter(Trace::application, "shares of " + piece->name, at, std::move(shares));
  // The part of the devices' time that is lost by waiting for the slowest: 0 if all end together.
  if (slowest > 0)
    trace_->counter(Trace::application, "imbalance of " + piece->name, at,
                    {{"idle", 1 - sum / (busy * slowest)}});
}

} // namespace libsplit::runtime
