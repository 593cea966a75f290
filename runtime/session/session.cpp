// The session's life, and its tables of contexts, queues and memory.
#include "runtime/session/session.h"

#include "runtime/core/log.h"
#include "runtime/session/chunked_launch.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace libsplit::runtime {

namespace {

/// Asks again and again until it `holds`; false if it does not within `seconds`.
template <class Holds> bool waitUntil(const Holds& holds, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (!holds()) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(seconds))
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

} // namespace

Session::Session(const Dispatch& cl, Options options)
    : shared_(cl, std::move(options)), cache_(options_.cacheDir), binaryOrigins_(cache_),
      calls_([this] { callsEnded(); }), pumps_(cl_, 2 * options_.stagingBytes, calls_),
      provider_([this] {
        const std::lock_guard lock(mutex_);
        goOn();
      }),
      contentsFetcher_(shared_, mutex_, issuer_, mover_, [this] { goOn(); }) {
  setLogLevel(options_.log);
  if (!options_.trace.empty())
    shared_.tracer.open(options_.trace, options_.minLaunchSeconds);
}

Session::Session(const Dispatch& cl) : Session(cl, Options{}) {
  active_ = false;
}

void Session::stepAside(const std::string& why) {
  std::vector<std::shared_ptr<MemoryObject>> held; // destroyed after the lock is gone
  Lock lock(mutex_);
  if (!active() || steppingAside_)
    return;
  log(LogLevel::Info, "steps aside: ", why);
  shared_.stats.steppedAside = why;
  // From here on nothing is split. What still waits for the program can't be waited for; it runs at
  // home later, and the last of it ends the session's part.
  steppingAside_ = true;
  Task work; // of no queue
  progress_.wait(lock, [&] { return !openChunks_ && !recovering_; });
  for (const auto& [queue, stream] : streams_)
    for (const auto& task : stream->active)
      work.parts.insert(work.parts.end(), task->parts.begin(), task->parts.end());
  for (const auto& [handle, tracked] : memory_) {
    const std::shared_ptr<Buffer>& buffer = tracked.object->buffer;
    if (!buffer || !buffer->engaged())
      continue;
    held.push_back(tracked.object);
    buffer->readers() = {}; // the program's writes go home alone
    try {
      mover_.bring(work, *buffer, machine_->homeDevice().node, ByteSet(0, buffer->size()));
    } catch (const std::exception& error) {
      log(LogLevel::Debug, "a buffer can't be brought home: ", error.what());
    }
  }
  lock.unlock();
  for (const CompletionPtr& part : work.parts)
    part->wait();
  lock.lock();
  mover_.awaitSentAhead(lock); // some of it may have been on its way home
  leaveIfAllIsHome();
}

/// Having stepped aside, ends the session's part once nothing is pending, and home has all bytes.
/// Where some are lost or could not be brought, it goes on as long as the program does.
void Session::leaveIfAllIsHome() {
  if (!steppingAside_ || unfinishedTasks_ > 0)
    return;
  for (const auto& [handle, tracked] : memory_) {
    const std::shared_ptr<Buffer>& buffer = tracked.object->buffer;
    if (!buffer || !buffer->engaged())
      continue;
    const NodeId home = machine_->homeDevice().node;
    const ByteSet all(0, buffer->size());
    if (!buffer->directory().isValid(home, all) || !buffer->accesses().isIdle(home, all, false))
      return;
  }
  active_ = false;
}

void Session::finish() {
  if (ending_.exchange(true))
    return;
  // A signal's handler that ends the process may have interrupted a thread that holds the lock.
  Lock lock(mutex_, std::defer_lock);
  if (!waitUntil([&] { return lock.try_lock(); }, 1))
    return;
  preparer_.stop(lock);
  bool isFinished = finishTasks(lock);
  std::vector<std::shared_ptr<Task>> arrived; // which keep no buffer from going any more
  waitUntil(
      [&] {
        for (auto& each : mover_.takeArrived())
          arrived.push_back(std::move(each));
        return !mover_.hasSentAhead() || !isFinished;
      },
      2);
  isFinished = isFinished && !mover_.hasSentAhead(); // a rehearsal may take its time
  if (machine_ && !isFinished)
    for (const Device& device : machine_->devices())
      device.lane().beginNoCompile();
  lock.unlock();
  // Compilers have static objects, which go soon.
  auto compiles = [](const Device& device) { return device.lane().isCompiling(); };
  if (machine_ && !isFinished)
    waitUntil([&] { return std::ranges::none_of(machine_->devices(), compiles); }, 30);
  pumps_.stop();
  contentsFetcher_.stop(2); // it may be waiting for the program's own work
  preparer_.save();
  writeStats();
  shared_.tracer.close();
}

void Session::writeStats() {
  if (!options_.wantsStats())
    return;
  std::string json, table;
  {
    Lock lock(mutex_);
    if (!options_.stats.empty())
      json = toJson(shared_.stats, machine_.get());
    if (options_.summary)
      table = toTable(shared_.stats, machine_.get());
  }
  writeReport(table);
  if (!options_.stats.empty() && !writeStatsFile(options_.stats, json))
    log(LogLevel::Error, "can't write the statistics to ", options_.stats);
}

std::span<const Device> Session::devices() const {
  return machine_ ? std::span<const Device>(machine_->devices()) : std::span<const Device>();
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

void Session::contextReleased(cl_context context) {
  if (!contexts_.released(context))
    return;
  pumps_.forget(context);
  Lock lock(mutex_);
  if (machine_ && unfinishedTasks_ == 0) {
    mover_.awaitSentAhead(lock);
    machine_->forget(context);
  }
  contentsFetcher_.forget(context);
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
          tracked.object->buffer->unbooked = {};
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

cl_int Session::finishQueue(cl_command_queue queue) {
  Lock lock(mutex_);
  auto stream = findStream(queue);
  if (!stream)
    return CL_SUCCESS;
  waitIdle(lock, stream);
  return std::exchange(stream->hasLost, false) ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

// --- memory

void Session::bufferCreated(cl_mem buffer) {
  auto query = cl_.clGetMemObjectInfo;
  auto context = property<cl_context>(query, buffer, CL_MEM_CONTEXT);
  auto size = property<std::size_t>(query, buffer, CL_MEM_SIZE);
  auto flags = property<cl_mem_flags>(query, buffer, CL_MEM_FLAGS);
  auto object = std::make_shared<MemoryObject>();
  object->access = HostAccess::of(flags);
  object->buffer =
      std::make_shared<Buffer>(cl_, context, buffer, size, object->access, engagements_);
  object->size = size;
  if (property<cl_bool>(query, buffer, CL_MEM_USES_SVM_POINTER) != CL_FALSE)
    object->buffer->setHomeOnly("it lies in shared virtual memory");
  Lock lock(mutex_);
  memory_[buffer] = {std::move(object), 1};
}

void Session::subBufferCreated(cl_mem part, cl_mem parent) {
  auto query = cl_.clGetMemObjectInfo;
  auto object = std::make_shared<MemoryObject>();
  object->origin = property<std::size_t>(query, part, CL_MEM_OFFSET);
  object->size = property<std::size_t>(query, part, CL_MEM_SIZE);
  const HostAccess own = HostAccess::of(property<cl_mem_flags>(query, part, CL_MEM_FLAGS));
  Lock lock(mutex_);
  auto root = findObject(parent);
  if (!root || !root->buffer)
    return;
  object->access = {own.reads && root->access.reads, own.writes && root->access.writes};
  object->buffer = root->buffer;
  memory_[part] = {std::move(object), 1};
}

void Session::imageCreated(cl_mem image) {
  auto object = std::make_shared<MemoryObject>();
  object->access =
      HostAccess::of(property<cl_mem_flags>(cl_.clGetMemObjectInfo, image, CL_MEM_FLAGS));
  // Those of which the host may not read and write all stay at home.
  if (const auto shape = object->access.isFull() ? ImageShape::of(cl_, image) : std::nullopt) {
    object->buffer = std::make_shared<Buffer>(
        cl_, property<cl_context>(cl_.clGetMemObjectInfo, image, CL_MEM_CONTEXT), image, *shape,
        engagements_);
    object->size = shape->bytes;
  }
  Lock lock(mutex_);
  memory_[image] = {std::move(object), 1};
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
  // Destroyed after the lock is gone.
  std::shared_ptr<MemoryObject> last;
  std::vector<std::shared_ptr<Task>> arrived;
  Lock lock(mutex_);
  auto found = memory_.find(object);
  if (found != memory_.end() && --found->second.references == 0) {
    last = std::move(found->second.object);
    memory_.erase(found);
    arrived = mover_.takeArrived();
  }
}

} // namespace libsplit::runtime
