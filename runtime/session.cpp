// The session's tables: what the application made, and which of its commands may go straight
// through.
#include "runtime/session.h"

#include "analysis-pass/summary/program_kind.h"
#include "runtime/chunked_launch.h"
#include "runtime/log.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

Session::Session(const Dispatch& cl, Options options)
    : cl_(cl), options_(std::move(options)), cache_(options_.cacheDir),
      analyzer_(options_.splitc.empty() ? defaultSplitc() : options_.splitc, cache_,
                options_.analysisTimeoutSeconds),
      binaryOrigins_(cache_) {
  setLogLevel(options_.log);
  if (!options_.trace.empty())
    trace_ = Trace::open(options_.trace);
}

void Session::stepAside(const std::string& why) {
  Lock lock(mutex_);
  if (!active())
    return;
  log(LogLevel::Info, "steps aside: ", why);
  stats_.steppedAside = why;
  drain(lock);
  std::vector<BufferUse> everything;
  for (const auto& [handle, tracked] : memory_)
    if (tracked.object->buffer && tracked.object->buffer->engaged())
      everything.push_back({handle});
  if (!everything.empty() && !homeIsCurrent(everything) && !streams_.empty()) {
    std::shared_ptr<Stream> stream = streams_.begin()->second;
    auto task = newTask(stream, Command{});
    task->plan = [this, held = hold(everything)](Task& planned) {
      planHomeCall(planned, held,
                   [](cl_bool, cl_uint, const cl_event*, cl_event*) { return CL_SUCCESS; });
    };
    submit(task);
    waitFor(lock, task);
  }
  active_ = false;
}

void Session::finish() {
  {
    Lock lock(mutex_);
    // A program that ends without waiting for its own work must not be held up by it for long.
    progress_.wait_for(lock, std::chrono::seconds(2), [&] { return unfinishedTasks_ == 0; });
    active_ = false;
  }
  stopPreparing();
  saveSpeeds();
  writeStats();
  if (trace_)
    trace_->close();
}

void Session::stopPreparing() {
  {
    // Forgetting where a binary came from would cost every later run its splits.
    Lock lock(mutex_);
    progress_.wait_for(lock, std::chrono::seconds(5), [&] { return unkeptOrigins_ == 0; });
  }
  analyzer_.cancel();
  preparer_.stop(30);
  inspector_.stop(2); // it may be waiting for the program's own work
}

void Session::abandonAfterFork() {
  active_ = false;
  if (trace_)
    trace_->abandon();
}

void Session::writeStats() {
  if (options_.stats.empty())
    return;
  std::string json;
  {
    Lock lock(mutex_);
    json = toJson(stats_, machine_.get());
  }
  if (!writeStatsFile(options_.stats, json))
    log(LogLevel::Error, "can't write the statistics to ", options_.stats);
}

std::shared_ptr<Stream> Session::findStream(cl_command_queue queue) {
  auto found = streams_.find(queue);
  return found == streams_.end() ? nullptr : found->second;
}

std::shared_ptr<Stream> Session::streamOf(Lock& lock, cl_command_queue queue) {
  auto stream = findStream(queue);
  if (stream || !queue)
    return stream;
  // Made by a call that libsplit does not see: an extension's.
  lock.unlock();
  queueCreated(queue);
  lock.lock();
  return active() ? findStream(queue) : nullptr;
}

std::shared_ptr<MemoryObject> Session::findObject(cl_mem object) {
  auto found = memory_.find(object);
  return found == memory_.end() ? nullptr : found->second.object;
}

// --- contexts and queues

void Session::contextCreated(cl_context context) {
  Lock lock(mutex_);
  contexts_[context] = 1;
}

void Session::contextRetained(cl_context context) {
  Lock lock(mutex_);
  auto found = contexts_.find(context);
  if (found != contexts_.end())
    ++found->second;
}

void Session::contextReleased(cl_context context) {
  Lock lock(mutex_);
  auto found = contexts_.find(context);
  if (found == contexts_.end() || --found->second > 0)
    return;
  contexts_.erase(found);
  if (machine_ && unfinishedTasks_ == 0)
    machine_->forget(context);
  std::erase_if(extremesKernels_,
                [&](const auto& entry) { return std::get<1>(entry.first) == context; });
}

void Session::queueCreated(cl_command_queue queue) {
  auto query = cl_.clGetCommandQueueInfo;
  if (!property<cl_device_id>(query, queue, CL_QUEUE_DEVICE))
    return; // not a queue
  auto stream = std::make_shared<Stream>();
  stream->queue = queue;
  stream->context = property<cl_context>(query, queue, CL_QUEUE_CONTEXT);
  stream->device = property<cl_device_id>(query, queue, CL_QUEUE_DEVICE);
  auto properties = property<cl_command_queue_properties>(query, queue, CL_QUEUE_PROPERTIES);
  if (properties & CL_QUEUE_ON_DEVICE)
    return;
  stream->inOrder = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  stream->profiled = properties & CL_QUEUE_PROFILING_ENABLE;
  bool another = false;
  {
    Lock lock(mutex_);
    if (!home_)
      home_ = stream->device;
    another = home_ != stream->device;
    if (streams_.size() == 1) // the first queue's work is not in the books
      for (const auto& [handle, tracked] : memory_)
        if (tracked.object->buffer)
          tracked.object->buffer->unbookedWork.reset();
    streams_[queue] = stream;
  }
  if (another)
    stepAside("the program uses several devices itself");
}

void Session::queueRetained(cl_command_queue queue) {
  Lock lock(mutex_);
  if (auto stream = findStream(queue))
    ++stream->references;
}

void Session::queueReleased(cl_command_queue queue) {
  Lock lock(mutex_);
  auto stream = findStream(queue);
  if (!stream || --stream->references > 0)
    return;
  if (stream->idle()) {
    stream->closed = true;
    stream->wake.notify_one();
    streams_.erase(queue);
  } else {
    // What is pending may wait for the application, so this call must not: the last task closes it.
    stream->keep = Ref<cl_command_queue>::retain(cl_, queue);
  }
}

void Session::finishQueue(cl_command_queue queue) {
  Lock lock(mutex_);
  if (auto stream = findStream(queue))
    waitIdle(lock, stream);
}

// --- memory

void Session::bufferCreated(cl_mem buffer) {
  auto query = cl_.clGetMemObjectInfo;
  auto context = property<cl_context>(query, buffer, CL_MEM_CONTEXT);
  auto size = property<std::size_t>(query, buffer, CL_MEM_SIZE);
  auto flags = property<cl_mem_flags>(query, buffer, CL_MEM_FLAGS);
  auto object = std::make_shared<MemoryObject>();
  object->buffer = std::make_shared<Buffer>(cl_, context, buffer, size, engagements_);
  object->size = size;
  if (flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY))
    object->buffer->setHomeOnly("the program restricts the host's access to it");
  Lock lock(mutex_);
  memory_[buffer] = {std::move(object), 1};
}

void Session::subBufferCreated(cl_mem part, cl_mem parent) {
  auto query = cl_.clGetMemObjectInfo;
  auto object = std::make_shared<MemoryObject>();
  object->origin = property<std::size_t>(query, part, CL_MEM_OFFSET);
  object->size = property<std::size_t>(query, part, CL_MEM_SIZE);
  Lock lock(mutex_);
  auto root = findObject(parent);
  if (!root || !root->buffer)
    return;
  object->buffer = root->buffer;
  memory_[part] = {std::move(object), 1};
}

void Session::imageCreated(cl_mem image) {
  Lock lock(mutex_);
  memory_[image] = {std::make_shared<MemoryObject>(), 1};
}

void Session::imageOverBuffer(cl_mem image, cl_mem buffer) {
  {
    // The image shares the buffer's bytes, so commands on the image are uses of the buffer.
    Lock lock(mutex_);
    auto root = findObject(buffer);
    if (root)
      memory_[image] = {std::make_shared<MemoryObject>(*root), 1};
  }
  keepAtHome(buffer, "an image was made over the buffer");
}

void Session::keepAtHome(cl_mem buffer, const std::string& why) {
  Lock lock(mutex_);
  auto object = findObject(buffer);
  if (!object || !object->buffer)
    return;
  object->buffer->setHomeOnly(why);
  if (object->buffer->engaged()) {
    lock.unlock();
    stepAside(why);
  }
}

void Session::memoryRetained(cl_mem object) {
  Lock lock(mutex_);
  auto found = memory_.find(object);
  if (found != memory_.end())
    ++found->second.references;
}

void Session::memoryReleased(cl_mem object) {
  std::shared_ptr<MemoryObject> last; // destroyed after the lock is gone
  Lock lock(mutex_);
  auto found = memory_.find(object);
  if (found != memory_.end() && --found->second.references == 0) {
    last = std::move(found->second.object);
    memory_.erase(found);
  }
}

// --- programs and kernels

void Session::programCreated(cl_program program, cl_context context,
                             std::optional<std::string> source, const std::string& opaque) {
  auto tracked = std::make_shared<Program>(program, context);
  tracked->source = std::move(source);
  tracked->opaque = opaque;
  Lock lock(mutex_);
  programs_[program] = std::move(tracked);
}

void Session::programCreatedFrom(cl_program program, cl_context context,
                                 const std::vector<BinaryUse>& binaries) {
  auto tracked = std::make_shared<Program>(program, context);
  tracked->opaque = "the program was made from a binary, and libsplit has not seen it being built";
  for (const BinaryUse& binary : binaries)
    if (auto origin = binaryOrigins_.find(hashOf(binary.bytes)))
      tracked->binaries[binary.device] = std::move(origin);
  // SPIR bitcode can be analysed as it is; what it is built with comes later.
  if (tracked->binaries.empty() && binaries.size() == 1 &&
      kindOf(binaries[0].bytes) == ProgramKind::Bitcode)
    tracked->source = std::string(binaries[0].bytes);
  Lock lock(mutex_);
  programs_[program] = std::move(tracked);
}

void Session::programOpaque(cl_program program, const std::string& why) {
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found == programs_.end())
    return;
  found->second->source.reset();
  found->second->binaries.clear();
  found->second->opaque = why;
}

void Session::binariesRead(cl_program program, std::span<const unsigned char* const> binaries) {
  std::shared_ptr<Build> build;
  {
    Lock lock(mutex_);
    auto found = programs_.find(program);
    if (found == programs_.end() || found->second->build->origins.empty())
      return;
    build = found->second->build;
  }
  auto devices = arrayProperty<cl_device_id>(cl_.clGetProgramInfo, program, CL_PROGRAM_DEVICES);
  auto sizes = arrayProperty<std::size_t>(cl_.clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES);
  for (std::size_t i = 0; i < std::min({devices.size(), sizes.size(), binaries.size()}); ++i) {
    auto made = build->origins.find(devices[i]);
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    cl_.clGetProgramBuildInfo(program, devices[i], CL_PROGRAM_BINARY_TYPE, sizeof type, &type,
                              nullptr);
    if (made == build->origins.end() || type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE || !binaries[i] ||
        sizes[i] == 0)
      continue;
    auto bytes = std::string_view(reinterpret_cast<const char*>(binaries[i]), sizes[i]);
    keepOrigin(hashOf(bytes), build, made->second, devices[i]);
  }
}

void Session::keepOrigin(const std::string& binary, const std::shared_ptr<Build>& build,
                         const std::shared_ptr<const Origin>& made, cl_device_id device) {
  auto origin = std::make_shared<Origin>(*made);
  if (!origin->madeFor)
    origin->madeFor = deviceMacros(cl_, device);
  binaryOrigins_.note(binary, origin);
  if (!mayReadFiles(*origin)) {
    binaryOrigins_.keep(binary, *origin);
    return;
  }
  Lock lock(mutex_);
  ++unkeptOrigins_;
  auto pending = std::shared_ptr<void>(nullptr, [this](void*) {
    Lock done(mutex_);
    --unkeptOrigins_;
    progress_.notify_all();
  });
  lock.unlock();
  preparer_.post([this, binary, build, made, origin, pending = std::move(pending)] {
    auto summary = analysisOf(*build, made, *origin->madeFor);
    if (!summary->failure.empty())
      return;
    Origin flat = *origin;
    flat.isFlat = true;
    if (!summary->flatSource.empty())
      flat.text = summary->flatSource;
    binaryOrigins_.keep(binary, flat);
  });
}

void Session::programBuilding(cl_program program, std::vector<cl_device_id> devices,
                              const char* options) {
  if (devices.empty())
    devices = arrayProperty<cl_device_id>(cl_.clGetProgramInfo, program, CL_PROGRAM_DEVICES);
  std::map<std::string, std::shared_ptr<KernelCode>> outdated;
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found == programs_.end())
    return;
  Program& tracked = *found->second;
  progress_.wait(lock, [&] {
    return std::none_of(tracked.codes.begin(), tracked.codes.end(), [](const auto& entry) {
      return entry.second->state == KernelCode::State::Preparing;
    });
  });
  if (!tracked.codes.empty())
    drain(lock);
  outdated.swap(tracked.codes);
  auto build = std::make_shared<Build>();
  build->origins = tracked.build->origins;
  for (cl_device_id device : devices) {
    auto binary = tracked.binaries.find(device);
    if (tracked.source)
      build->origins[device] =
          std::make_shared<const Origin>(Origin{*tracked.source, options ? options : "", {}, {}});
    else if (binary != tracked.binaries.end())
      build->origins[device] = binary->second;
  }
  std::shared_ptr<Build> before = std::exchange(tracked.build, std::move(build));
  if (active() && options_.policy.kind != Policy::Kind::Off)
    startAnalysis(tracked);
  lock.unlock();
  for (auto& [name, code] : outdated)
    code->kernels.clear(); // a program with kernels can't be built again
}

void Session::programRetained(cl_program program) {
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found != programs_.end())
    ++found->second->references;
}

void Session::programReleased(cl_program program) {
  std::shared_ptr<Program> last;
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found != programs_.end() && --found->second->references == 0) {
    last = std::move(found->second);
    programs_.erase(found);
  }
}

void Session::kernelCreated(cl_kernel handle, cl_program program) {
  auto name = stringProperty(cl_.clGetKernelInfo, handle, CL_KERNEL_FUNCTION_NAME);
  auto count = property<cl_uint>(cl_.clGetKernelInfo, handle, CL_KERNEL_NUM_ARGS);
  auto kernel = std::make_shared<Kernel>();
  kernel->handle = handle;
  kernel->arguments.resize(count);
  Lock lock(mutex_);
  auto found = programs_.find(program);
  if (found == programs_.end())
    return;
  kernel->program = found->second;
  std::shared_ptr<KernelCode>& code = kernel->program->codes[name];
  if (!code) {
    code = std::make_shared<KernelCode>();
    code->name = name;
    code->program = kernel->program;
    code->stats = std::make_shared<KernelStats>();
    code->stats->name = name;
    stats_.kernels.push_back(code->stats);
  }
  kernel->code = code;
  kernels_[handle] = std::move(kernel);
}

void Session::kernelCloned(cl_kernel clone, cl_kernel original) {
  Lock lock(mutex_);
  auto found = kernels_.find(original);
  if (found == kernels_.end())
    return;
  auto copy = std::make_shared<Kernel>(*found->second);
  copy->handle = clone;
  copy->references = 1;
  copy->clone = nullptr;
  kernels_[clone] = std::move(copy);
}

void Session::kernelRetained(cl_kernel handle) {
  Lock lock(mutex_);
  auto found = kernels_.find(handle);
  if (found != kernels_.end())
    ++found->second->references;
}

void Session::kernelReleased(cl_kernel handle) {
  std::shared_ptr<Kernel> last;
  Lock lock(mutex_);
  auto found = kernels_.find(handle);
  if (found != kernels_.end() && --found->second->references == 0) {
    last = std::move(found->second);
    kernels_.erase(found);
  }
}

void Session::argumentSet(cl_kernel handle, cl_uint index, std::size_t size, const void* value) {
  Lock lock(mutex_);
  auto found = kernels_.find(handle);
  if (found == kernels_.end() || index >= found->second->arguments.size())
    return;
  Argument& argument = found->second->arguments[index];
  argument.isSet = true;
  argument.size = size;
  argument.memory.reset();
  auto bytes = static_cast<const std::byte*>(value);
  argument.value.assign(bytes, bytes ? bytes + size : bytes);
  if (value && size == sizeof(cl_mem)) {
    cl_mem object = nullptr;
    std::memcpy(&object, value, sizeof object);
    argument.memory = findObject(object);
  }
}

void Session::kernelOpaque(cl_kernel handle, const std::string& why) {
  Lock lock(mutex_);
  auto found = kernels_.find(handle);
  if (found == kernels_.end())
    return;
  KernelCode& code = *found->second->code;
  code.state = KernelCode::State::Unsplittable;
  code.reason = code.stats->reason = why;
}

// --- commands

bool Session::waitListIsNative(const Command& command) {
  for (cl_uint i = 0; i < command.waitCount && command.waitList; ++i) {
    auto ours = events_.find(command.waitList[i]);
    if (ours != events_.end() && !ours->second->complete)
      return false;
  }
  return true;
}

/// Whether the driver would accept the command, as far as libsplit can tell. What it would not
/// accept goes to the driver at once, for the error that it gives.
bool Session::isValid(const Command& command, const std::vector<BufferUse>& uses) {
  if ((command.waitCount == 0) != (command.waitList == nullptr))
    return false;
  for (cl_uint i = 0; i < command.waitCount; ++i)
    if (!command.waitList[i])
      return false;
  for (const BufferUse& use : uses) {
    auto object = use.object ? findObject(use.object) : nullptr;
    if (object && use.end != BufferUse::wholeObject &&
        (use.begin > use.end || use.end > object->size))
      return false;
  }
  return true;
}

/// Whether a use touches a buffer of a launch that is still being given out in chunks, or verified.
bool Session::isBusy(const std::vector<BufferUse>& uses) {
  if (!openChunks_ && !openVerification_)
    return false;
  auto isChunked = [&](const std::shared_ptr<Buffer>& buffer) {
    if (!openChunks_)
      return false;
    const auto& buffers = openChunks_->launch->buffers;
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
  };
  return std::any_of(uses.begin(), uses.end(), [&](const BufferUse& use) {
    auto object = use.object ? findObject(use.object) : nullptr;
    return object && object->buffer &&
           (isChunked(object->buffer) || isBeingVerified(*object->buffer));
  });
}

/// Whether the driver may have the command now. Where `noted` is set then, the caller uses
/// `callNoted`; without a `noted` it calls the driver in its own way.
bool Session::goesNative(Lock& lock, const Command& command, const std::vector<BufferUse>& uses,
                         CompletionPtr* noted) {
  auto stream = streamOf(lock, command.queue);
  if (!stream || !isValid(command, uses))
    return true;
  if (!stream->idle() || !waitListIsNative(command) || !homeIsCurrent(uses) || isBusy(uses) ||
      !noteNativeWrites(stream, uses, noted))
    return false;
  stream->nativeWork = true;
  if (command.type == CL_COMMAND_BARRIER)
    stream->nativeBarrier = true;
  return true;
}

cl_int Session::defer(Lock& lock, const Command& command, const std::vector<BufferUse>& uses,
                      NativeCall call) {
  auto task = newTask(findStream(command.queue), command);
  attachEvent(*task, command);
  task->plan = [this, held = hold(uses), call = std::move(call)](Task& planned) {
    planHomeCall(planned, held, call);
  };
  submit(task);
  return command.blocking ? waitFor(lock, task) : CL_SUCCESS;
}

void Session::settle(const Command& command, const std::vector<BufferUse>& uses) {
  Lock lock(mutex_);
  // Only libsplit's own events: for the application's the driver waits itself, and not in here.
  std::vector<cl_event> ours;
  for (cl_uint i = 0; i < command.waitCount && command.waitList; ++i)
    if (events_.contains(command.waitList[i]))
      ours.push_back(command.waitList[i]);
  Command internal;
  internal.queue = command.queue;
  internal.type = command.type;
  internal.blocking = true;
  internal.waitCount = static_cast<cl_uint>(ours.size());
  internal.waitList = ours.empty() ? nullptr : ours.data();
  while (active() && !goesNative(lock, internal, uses, nullptr)) {
    defer(lock, internal, uses,
          [](cl_bool, cl_uint, const cl_event*, cl_event*) { return CL_SUCCESS; });
    waitIdle(lock, findStream(command.queue));
  }
}

void Session::settleKernel(const Command& command, cl_kernel kernel) {
  std::vector<BufferUse> uses;
  {
    Lock lock(mutex_);
    auto found = kernels_.find(kernel);
    if (found != kernels_.end())
      uses = usesOf(*found->second);
  }
  settle(command, uses);
}

cl_int Session::read(const Command& command, cl_mem handle, std::size_t offset, std::size_t size,
                     void* host) {
  if (!quiet()) {
    Lock lock(mutex_);
    std::vector<BufferUse> uses = {{handle, false, offset, offset + size}};
    if (active() && host && size > 0 && !goesNative(lock, command, uses, nullptr)) {
      auto object = findObject(handle);
      if (!object || !object->buffer)
        return defer(
            lock, command, uses,
            [=, this](cl_bool blocking, cl_uint count, const cl_event* list, cl_event* event) {
              return cl_.clEnqueueReadBuffer(command.queue, handle, blocking, offset, size, host,
                                             count, list, event);
            });
      auto task = newTask(findStream(command.queue), command);
      attachEvent(*task, command);
      ByteRange bytes{object->origin + offset, object->origin + offset + size};
      task->plan = [this, object, bytes, host,
                    keep = Ref<cl_mem>::retain(cl_, handle)](Task& planned) {
        planRead(planned, *object->buffer, bytes, static_cast<std::byte*>(host));
      };
      submit(task);
      return command.blocking ? waitFor(lock, task) : CL_SUCCESS;
    }
  }
  return cl_.clEnqueueReadBuffer(command.queue, handle, command.blocking, offset, size, host,
                                 command.waitCount, command.waitList, command.event);
}

} // namespace libsplit::runtime
