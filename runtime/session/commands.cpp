// Commands other than launches: which may go straight to the driver, and what becomes of the rest.
#include "runtime/session/chunked_launch.h"
#include "runtime/session/session.h"

#include <algorithm>

namespace libsplit::runtime {

bool Session::waitListIsNative(const Command& command) {
  for (cl_uint i = 0; i < command.waitCount && command.waitList; ++i) {
    auto ours = events_.find(command.waitList[i]);
    if (ours && !ours->complete)
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

/// Whether queue, objects and events belong together. Else the driver refuses the command, if it
/// looks.
bool Session::isOfOneContext(const Stream& stream, const Command& command,
                             const std::vector<BufferUse>& uses) {
  for (cl_uint i = 0; i < command.waitCount && command.waitList; ++i)
    if (!command.waitList[i] || property<cl_context>(cl_.clGetEventInfo, command.waitList[i],
                                                     CL_EVENT_CONTEXT) != stream.context)
      return false;
  return std::all_of(uses.begin(), uses.end(), [&](const BufferUse& use) {
    if (!use.object)
      return false;
    auto object = findObject(use.object);
    return (object && object->buffer ? object->buffer->context()
                                     : property<cl_context>(cl_.clGetMemObjectInfo, use.object,
                                                            CL_MEM_CONTEXT)) == stream.context;
  });
}

/// Whether the flags of the object that the host reads, writes or maps allow that. Else the driver
/// refuses it, if it looks.
bool Session::hostMayDo(const Command& command, const std::vector<BufferUse>& uses) {
  switch (command.type) {
  case CL_COMMAND_READ_BUFFER:
  case CL_COMMAND_READ_BUFFER_RECT:
  case CL_COMMAND_READ_IMAGE:
  case CL_COMMAND_WRITE_BUFFER:
  case CL_COMMAND_WRITE_BUFFER_RECT:
  case CL_COMMAND_WRITE_IMAGE:
  case CL_COMMAND_MAP_BUFFER:
  case CL_COMMAND_MAP_IMAGE:
    break;
  default:
    return true;
  }
  auto object = uses.empty() || !uses.front().object ? nullptr : findObject(uses.front().object);
  return !object || (uses.front().writes ? object->access.writes : object->access.reads);
}

bool Session::overlap(const BufferUse& a, const BufferUse& b) {
  if (quiet())
    return false;
  Lock lock(mutex_);
  auto first = findObject(a.object), second = findObject(b.object);
  const bool known = first && second && first->buffer;
  if (known ? first->buffer != second->buffer : a.object != b.object)
    return false;
  const std::uint64_t from = known ? first->origin : 0, to = known ? second->origin : 0;
  return from + a.begin < to + b.end && to + b.begin < from + a.end;
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

/// True if the driver is to have the command now, which is booked then; the caller calls it, by
/// `callNoted` where `noted` was set. One that the driver may refuse waits here until nothing is
/// pending. False: it has to be put off.
bool Session::admitNative(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                          const std::vector<BufferUse>& uses, CompletionPtr* noted) {
  auto stream = streamOf(lock, command.queue);
  if (!stream || !isValid(command, uses)) {
    enqueuing.admit();
    return true;
  }
  if (isOfOneContext(*stream, command, uses) && hostMayDo(command, uses)) {
    if (command.waitCount == 0 || !userEvents_)
      return tryNative(stream, enqueuing, command, uses, noted);
    // What it waits for may fail: then it leaves the bytes that it should write as they are.
    std::vector<BufferUse> alsoRead = uses;
    for (BufferUse& use : alsoRead)
      use.reads = true;
    return tryNative(stream, enqueuing, command, alsoRead, noted);
  }
  settle(lock, enqueuing, command,
         uses); // the driver's answer is wanted now, and it may be lenient
  return true;
}

/// True, and booked, if a valid command may go to the driver now, since nothing of libsplit's is in
/// its way. Never waits.
bool Session::tryNative(const std::shared_ptr<Stream>& stream, Pumps::Enqueuing& enqueuing,
                        const Command& command, const std::vector<BufferUse>& uses,
                        CompletionPtr* noted) {
  if (!stream->idle() || !waitListIsNative(command) || !homeIsCurrent(uses) || isBusy(uses) ||
      !bookNativeWrites(stream, uses, noted))
    return false;
  stream->nativeWork = true;
  if (command.type == CL_COMMAND_BARRIER)
    stream->nativeBarrier = true;
  enqueuing.admit();
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
  auto held = isHint ? hold({}) : hold(uses);
  noteOutputs(*task, held);
  task->plan = [this, held = std::move(held), call = std::move(call)](Task& planned) {
    homeCommands_.plan(planned, held, {call});
  };
  submit(task);
  return command.blocking ? waitFor(lock, task) : CL_SUCCESS;
}

cl_int Session::settle(Pumps::Enqueuing& enqueuing, const Command& command,
                       const std::vector<BufferUse>& uses) {
  Lock lock(mutex_);
  return settle(lock, enqueuing, command, uses);
}

cl_int Session::settle(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                       std::vector<BufferUse> uses) {
  auto stream = streamOf(lock, command.queue);
  if (!stream || !isValid(command, uses)) {
    enqueuing.admit();
    return CL_SUCCESS;
  }
  if (!isOfOneContext(*stream, command, uses) || !hostMayDo(command, uses))
    for (BufferUse& use : uses)
      use.reads = true; // refused, it does not replace them
  if (command.type == CL_COMMAND_MIGRATE_MEM_OBJECTS)
    uses.clear(); // where bytes lie is libsplit's business, and it changes none
  // Only libsplit's own events: for the application's the driver waits itself, and not in here.
  std::vector<cl_event> ours;
  for (cl_uint i = 0; i < command.waitCount && command.waitList; ++i)
    if (events_.find(command.waitList[i]))
      ours.push_back(command.waitList[i]);
  Command internal;
  internal.queue = command.queue;
  internal.type = command.type;
  internal.blocking = CL_TRUE;
  internal.waitCount = static_cast<cl_uint>(ours.size());
  internal.waitList = ours.empty() ? nullptr : ours.data();
  while (active() && !tryNative(stream, enqueuing, internal, uses, nullptr)) {
    const cl_int status =
        defer(lock, internal, uses,
              [](cl_bool, cl_uint, const cl_event*, cl_event*) { return CL_SUCCESS; });
    waitIdle(lock, stream);
    if (status < 0 && shared_.mayHaveLost)
      return status;
  }
  return CL_SUCCESS;
}

cl_int Session::read(const Command& command, cl_mem handle, std::size_t offset, std::size_t size,
                     void* host) {
  Pumps::Enqueuing enqueuing(pumps_, command.queue, CallTable::State::Admitted);
  if (!quiet()) {
    enqueuing.reconsider();
    Lock lock(mutex_);
    std::vector<BufferUse> uses = {{handle, false, offset, offset + size}};
    if (active() && (!host || command.blocking > CL_TRUE)) {
      settle(lock, enqueuing, command, uses); // to be refused, and now
    } else if (auto image = active() ? findObject(handle) : nullptr;
               image && image->buffer && image->buffer->isImage()) {
      settle(lock, enqueuing, command, uses); // the same
    } else if (active() && !admitNative(lock, enqueuing, command, uses, nullptr)) {
      enqueuing.end();
      auto object = findObject(handle);
      if (!object || !object->buffer || size == 0)
        return defer(
            lock, command, uses,
            [=, this](cl_bool blocking, cl_uint count, const cl_event* list, cl_event* event) {
              return cl_.clEnqueueReadBuffer(command.queue, handle, blocking, offset, size, host,
                                             count, list, event);
            });
      auto task = newTask(findStream(command.queue), command);
      attachEvent(*task, command);
      ByteRange bytes{object->origin + offset, object->origin + offset + size};
      task->plan = [this, object, bytes, host, mayBlock = command.blocking != CL_FALSE,
                    keep = Ref<cl_mem>::retain(cl_, handle)](Task& planned) {
        homeCommands_.planRead(planned, *object->buffer, bytes, static_cast<std::byte*>(host),
                               mayBlock);
      };
      submit(task);
      return command.blocking ? waitFor(lock, task) : CL_SUCCESS;
    }
  }
  const BulkCopy copy{command.queue,
                      handle,
                      true,
                      offset,
                      size,
                      static_cast<std::byte*>(host),
                      command.waitCount,
                      command.waitList,
                      command.event};
  return copyNatively(copy, command.blocking, command.blocking != CL_FALSE);
}

cl_int Session::write(const Command& command, cl_mem handle, std::size_t offset, std::size_t size,
                      const void* host) {
  auto* from = static_cast<std::byte*>(const_cast<void*>(host)); // and no more
  const BufferUse use{handle, true, offset, offset + size, false};
  if (!quiet()) {
    Lock lock(mutex_);
    if (active() && isReadElsewhere(lock, command, use)) {
      const auto object = findObject(handle);
      const ByteRange bytes{object->origin + offset, object->origin + offset + size};
      auto task = newTask(findStream(command.queue), command);
      attachEvent(*task, command);
      task->outputs.emplace_back(object->buffer, ByteSet(bytes));
      task->plan = [this, object, bytes, from,
                    keep = Ref<cl_mem>::retain(cl_, handle)](Task& planned) {
        homeCommands_.planWrite(planned, *object->buffer, bytes, from);
      };
      submit(task);
      return command.blocking ? waitFor(lock, task) : CL_SUCCESS;
    }
  }
  return this->command(
      command, {use},
      [=, this, blocking = command.blocking != CL_FALSE,
       queue = command.queue](cl_bool block, cl_uint count, const cl_event* list, cl_event* event) {
        // Who waits for it does so also where it was put off.
        return copyNatively({queue, handle, false, offset, size, from, count, list, event}, block,
                            blocking);
      });
}

cl_int Session::copyNatively(const BulkCopy& copy, cl_bool blocking, bool isWaitedFor) {
  if (!active() || !pumps_.isLarge(copy.size) || blocking > CL_TRUE)
    return copy.enqueue(cl_, blocking);
  // The event of one that goes by pump would tell the times of its last part. And with user events
  // about, what comes before may wait for the program.
  const bool isTimed =
      copy.event && property<cl_command_queue_properties>(cl_.clGetCommandQueueInfo, copy.queue,
                                                          CL_QUEUE_PROPERTIES) &
                        CL_QUEUE_PROFILING_ENABLE;
  if (!isTimed && (isWaitedFor || !userEvents_))
    if (const std::optional<cl_int> status = pumps_.copy(copy, isWaitedFor))
      return *status;
  return copy.enqueue(cl_, blocking);
}

} // namespace libsplit::runtime
