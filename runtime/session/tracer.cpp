#include "runtime/session/tracer.h"

#include "runtime/session/launch.h"
#include "runtime/session/stream.h"

#include <algorithm>

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
    if (work.uncounted)
      arguments.emplace_back(work.uncounted, std::uint64_t{1});
  }
  return arguments;
}

} // namespace

void Tracer::open(const std::string& file) {
  trace_ = Trace::open(file);
}

void Tracer::close() {
  if (trace_)
    trace_->close();
}

std::shared_ptr<TracedWork> Tracer::transfer(bool toHost, std::uint64_t bytes,
                                             const char* uncounted) const {
  if (!trace_)
    return nullptr;
  auto work = std::make_shared<TracedWork>();
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

void Tracer::launches(Task& task, const Launch& launch) const {
  if (trace_)
    task.call.kernel = launch.code->name;
}

void Tracer::native(const std::string& kernel, const std::string& why,
                    std::span<const Device> devices) {
  if (!trace_)
    return;
  nameDevices(devices);
  trace_->instant(Trace::application, ::gettid(), kernel, hostNow(), {{"native", why}});
}

void Tracer::nameDevices(std::span<const Device> devices) {
  if (named_ == 0)
    trace_->nameProcess(Trace::application, std::string(::program_invocation_short_name) + " (" +
                                                std::to_string(::getpid()) + ")");
  for (; named_ < devices.size(); ++named_) {
    const Device& device = devices[named_];
    trace_->nameProcess(Trace::firstDevice + static_cast<int>(named_),
                        device.label + " " + device.name + (device.isHome ? ", home" : ""));
  }
}

void Tracer::retired(const Task& task, std::span<const Device> devices) {
  if (!trace_)
    return;
  nameDevices(devices);
  const TracedCall& call = task.call;
  const HostTime now = hostNow();
  trace_->slice(
      Trace::application, call.thread, call.name, call.begin, call.blocking ? now : call.end,
      call.kernel.empty() ? Trace::Arguments{} : Trace::Arguments{{"kernel", call.kernel}});
  balance(task, work(task), devices);
}

HostTime Tracer::work(const Task& task) {
  const TracedCall& call = task.call;
  const HostTime now = hostNow();
  if (!trace_)
    return now;
  HostTime launched = now;
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
