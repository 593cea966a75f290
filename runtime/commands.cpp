// Commands other than launches: which may go straight to the driver, and what becomes of the rest.
#include "runtime/chunked_launch.h"
#include "runtime/session.h"

#include <algorithm>

namespace libsplit::runtime {

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
  // A migration that comes late only keeps its turn: it changes no byte, and where bytes lie is
  // libsplit's business. PoCL would let it wait for a map that is held back (mapping.cpp), which
  // waits for it in turn.
  const bool isHint = command.type == CL_COMMAND_MIGRATE_MEM_OBJECTS;
  if (isHint)
    call = [this, queue = command.queue](cl_bool, cl_uint count, const cl_event* list,
                                         cl_event* event) {
      return cl_.clEnqueueMarkerWithWaitList(queue, count, list, event);
    };
  task->plan = [this, held = isHint ? hold({}) : hold(uses),
                call = std::move(call)](Task& planned) { planHomeCall(planned, held, call); };
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
