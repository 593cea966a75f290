#include "runtime/session/commands.h"

#include "runtime/core/callback_scope.h"

#include <algorithm>

namespace libsplit::runtime {

/// What gain there is in splitting launches depends on what else happens to their buffers.
void Commands::noteForOutlooks(const Command& command, std::span<const BufferUse> uses) const {
  using Kind = ProgramCommand::Kind;
  const bool copies =
      command.type == CL_COMMAND_READ_BUFFER || command.type == CL_COMMAND_WRITE_BUFFER;
  if (!outlooks_.isWatching())
    return;
  for (const BufferUse& use : uses) {
    const auto& object = memory_.find(use.object);
    if (!object || !object->buffer)
      continue;
    const ByteRange bytes = rootRange(use, *object);
    if (use.reads)
      outlooks_.note(*object->buffer, copies ? Kind::Read : Kind::HomeReads, bytes);
    if (use.writes)
      outlooks_.note(*object->buffer, copies ? Kind::Write : Kind::HomeWrites, bytes);
  }
}

/// It goes to the driver as it came, without the lock: nobody else keeps book of it.
void Commands::noteWhileQuiet(const Command& command, std::span<const BufferUse> uses) const {
  const Lock lock(shared_.mutex);
  noteForOutlooks(command, uses);
}

void Commands::noteBarrierWhileQuiet(cl_command_queue queue) const {
  const Lock lock(shared_.mutex);
  if (const auto stream = scheduler_.find(queue))
    stream->nativeBarrier = true;
}

bool Commands::mayBeSkipped(const Command& command) const {
  if (command.waitCount == 0 || !command.waitList)
    return false;
  return shared_.userEvents ||
         std::any_of(command.waitList, command.waitList + command.waitCount, [&](cl_event event) {
           const auto ours = scheduler_.events().find(event);
           return ours && ours->ended && ours->status < 0;
         });
}

/// Whether the driver knows that the event is over: it may still be calling back.
bool Commands::isTold(const TaskEvent& event) const {
  return event.complete || (event.ended && executionStatus(cl_, event.handle.get()) <= CL_COMPLETE);
}

bool Commands::waitListIsNative(const Command& command) const {
  for (cl_uint i = 0; i < command.waitCount && command.waitList; ++i) {
    auto ours = scheduler_.events().find(command.waitList[i]);
    if (ours && !isTold(*ours))
      return false;
  }
  return true;
}

bool Commands::isValid(const Command& command, const std::vector<BufferUse>& uses) const {
  if ((command.waitCount == 0) != (command.waitList == nullptr))
    return false;
  for (cl_uint i = 0; i < command.waitCount; ++i)
    if (!command.waitList[i])
      return false;
  for (const BufferUse& use : uses) {
    const auto& object = memory_.find(use.object);
    if (object && use.end && (use.begin > *use.end || *use.end > object->size))
      return false;
  }
  return true;
}

bool Commands::isOfOneContext(const Stream& stream, const Command& command,
                              const std::vector<BufferUse>& uses) const {
  for (cl_uint i = 0; i < command.waitCount && command.waitList; ++i)
    if (!command.waitList[i] || property<cl_context>(cl_.clGetEventInfo, command.waitList[i],
                                                     CL_EVENT_CONTEXT) != stream.context)
      return false;
  return std::all_of(uses.begin(), uses.end(), [&](const BufferUse& use) {
    if (!use.object)
      return false;
    const auto& object = memory_.find(use.object);
    return (object && object->buffer ? object->buffer->context()
                                     : property<cl_context>(cl_.clGetMemObjectInfo, use.object,
                                                            CL_MEM_CONTEXT)) == stream.context;
  });
}

bool Commands::hostMayDo(const Command& command, const std::vector<BufferUse>& uses) const {
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
  if (uses.empty())
    return true;
  const auto& object = memory_.find(uses.front().object);
  return !object || (uses.front().writes ? object->access.writes : object->access.reads);
}

bool Commands::areBuffers(const Command& command, const std::vector<BufferUse>& uses) const {
  switch (command.type) {
  case CL_COMMAND_READ_BUFFER:
  case CL_COMMAND_READ_BUFFER_RECT:
  case CL_COMMAND_WRITE_BUFFER:
  case CL_COMMAND_WRITE_BUFFER_RECT:
  case CL_COMMAND_COPY_BUFFER:
  case CL_COMMAND_COPY_BUFFER_RECT:
  case CL_COMMAND_FILL_BUFFER:
  case CL_COMMAND_MAP_BUFFER:
    break;
  default:
    return true;
  }
  return std::ranges::all_of(uses, [&](const BufferUse& use) {
    const auto& object = memory_.find(use.object);
    return object && object->buffer
               ? !object->isImage()
               : property<cl_mem_object_type>(cl_.clGetMemObjectInfo, use.object, CL_MEM_TYPE) ==
                     CL_MEM_OBJECT_BUFFER;
  });
}

bool Commands::isPlausible(const Stream& stream, const Command& command,
                           const std::vector<BufferUse>& uses) const {
  return isOfOneContext(stream, command, uses) && hostMayDo(command, uses) &&
         areBuffers(command, uses);
}

/// Whether a use touches a buffer of a launch that is under way step by step.
bool Commands::isReserved(const std::vector<BufferUse>& uses) const {
  return tracked_.isAnyReserved() && std::ranges::any_of(uses, [&](const BufferUse& use) {
           const auto& object = memory_.find(use.object);
           return object && object->buffer && tracked_.isReserved(object->buffer);
         });
}

/// The same uses, where what was there before may stay.
static std::vector<BufferUse> alsoReading(std::vector<BufferUse> uses) {
  for (BufferUse& use : uses)
    use.reads = true;
  return uses;
}

bool Commands::admitNative(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                           const std::vector<BufferUse>& uses, CompletionPtr* noted) {
  auto stream = scheduler_.streamOf(lock, command.queue);
  if (!stream || !isValid(command, uses)) {
    asItCame(stream, enqueuing);
    return true;
  }
  if (isPlausible(*stream, command, uses)) {
    // If the driver had such a barrier, tasks behind it would come behind all that the driver has.
    if (command.type == CL_COMMAND_BARRIER && !stream->inOrder && mayBeSkipped(command))
      return false;
    if (mayBeSkipped(command))
      return tryNative(stream, enqueuing, command, alsoReading(uses), noted);
    return tryNative(stream, enqueuing, command, uses, noted);
  }
  settle(lock, enqueuing, command,
         uses); // the driver's answer is wanted now, and it may be lenient
  return true;
}

/// The driver is to refuse it, and may take it all the same.
void Commands::asItCame(const std::shared_ptr<Stream>& stream, Pumps::Enqueuing& enqueuing) {
  if (stream)
    stream->nativeWork = true;
  enqueuing.admit();
}

/// True, and booked, if a valid command may go to the driver now, since nothing of libsplit's is in
/// its way. Never waits. `gate`: the caller's, whose turn has come; else null.
bool Commands::tryNative(const std::shared_ptr<Stream>& stream, Pumps::Enqueuing& enqueuing,
                         const Command& command, const std::vector<BufferUse>& uses,
                         CompletionPtr* noted, const Task* gate) {
  const bool isItsTurn = gate ? stream->active.back().get() == gate : stream->idle();
  if (!isItsTurn || !waitListIsNative(command) || !homeIsCurrent(uses) || isReserved(uses) ||
      mayOvertake(command, uses) || !nativeWork_.book(stream, uses, noted))
    return false;
  stream->nativeWork = true;
  stream->waitsForOthers = stream->waitsForOthers || command.waitCount > 0;
  if (command.type == CL_COMMAND_BARRIER)
    stream->nativeBarrier = true;
  enqueuing.admit();
  return true;
}

/// Whether the driver might have the command before one of another thread's that was admitted
/// first. If that writes what home lacked until then, home counts as current already, and holds
/// neither the bytes of before nor those to come.
bool Commands::mayOvertake(const Command& command, const std::vector<BufferUse>& uses) const {
  const bool readsEngaged = std::ranges::any_of(uses, [&](const BufferUse& use) {
    const auto& object = memory_.find(use.object);
    return use.reads && object && object->buffer && object->buffer->engaged();
  });
  return readsEngaged &&
         !scheduler_.calls().await(command.queue, CallTable::Queues::This).areOver();
}

bool Commands::homeIsCurrent(const std::vector<BufferUse>& uses) const {
  for (const BufferUse& use : uses) {
    const auto& object = memory_.find(use.object);
    if (!object || !object->buffer || !object->buffer->engaged())
      continue;
    Buffer& buffer = *object->buffer;
    NodeId home = machine_->homeDevice().node;
    if (use.reads && !buffer.directory().isValid(home, ByteSet(rootRange(use, *object))))
      return false;
    if (!buffer.accesses().isIdle(home, ByteSet(rootRange(use, *object)), use.writes))
      return false;
  }
  return true;
}

/// Whether a write of the program's is better not made at home alone.
bool Commands::isReadElsewhere(Lock& lock, const Command& command, const BufferUse& use) {
  constexpr std::uint64_t worthIt = std::uint64_t{1} << 16; // else a transfer takes as long
  const auto object = memory_.find(use.object);
  if (!object || !object->buffer || !object->buffer->engaged() || object->buffer->isImage())
    return false;
  Buffer& buffer = *object->buffer;
  buffer.readers().programWrites();
  const Device& home = machine_->homeDevice();
  const auto stream = scheduler_.streamOf(lock, command.queue);
  if (machine_->nodes() < 2 || home.node == hostNode || shared_.steppingAside || !stream ||
      !isValid(command, {use}) || !isPlausible(*stream, command, {use}) || isReserved({use}))
    return false;
  const auto parts = buffer.readers().shareOut(ByteSet(rootRange(use, *object)), home.node);
  return std::ranges::any_of(parts, [&](const auto& part) {
    return part.first != home.node && part.first != hostNode && part.second.size() >= worthIt;
  });
}

std::shared_ptr<Task> Commands::create(const std::shared_ptr<Stream>& stream,
                                       const Command& command) {
  auto task = scheduler_.create(stream, command);
  scheduler_.attachEvent(*task, command);
  return task;
}

/// Its status, if the program waits for it.
cl_int Commands::submit(Lock& lock, const Command& command, const std::shared_ptr<Task>& task) {
  scheduler_.submit(task);
  if (command.blocking) {
    const cl_int status = scheduler_.waitFor(lock, task);
    return status == CL_SUCCESS ? Scheduler::tell(*task->stream) : status;
  }
  scheduler_.seeThrough(lock, task->stream);
  return CL_SUCCESS;
}

cl_int Commands::defer(Lock& lock, const Command& command, const std::vector<BufferUse>& uses,
                       NativeCall call) {
  auto task = create(scheduler_.find(command.queue), command);
  // A migration that comes late only keeps its turn: it changes no byte, and where bytes lie is
  // libsplit's business. PoCL would let it wait for a map that is held back (mapping.cpp), which
  // waits for it in turn.
  const bool isHint = command.type == CL_COMMAND_MIGRATE_MEM_OBJECTS;
  if (isHint)
    call = [this, queue = command.queue](cl_bool, cl_uint count, const cl_event* list,
                                         cl_event* event) {
      return cl_.clEnqueueMarkerWithWaitList(queue, count, list, event);
    };
  auto held = isHint ? memory_.hold({}) : memory_.hold(uses);
  HomeCommands::noteOutputs(*task, held);
  // Behind a list it would not be behind what the queue has natively, which no task may be, either,
  // once there are user events.
  const bool isBehindAll = !task->stream->inOrder && isBehindAllBefore(command);
  // And without one it would be behind all of that, though all is over that it was to wait for.
  const bool hasOwnList =
      !task->stream->inOrder && command.waitCount > 0 &&
      (isHint || command.type == CL_COMMAND_MARKER || command.type == CL_COMMAND_BARRIER);
  if (hasOwnList)
    call = [this, context = task->stream->context, call = std::move(call)](
               cl_bool blocking, cl_uint count, const cl_event* list, cl_event* event) {
      if (count > 0)
        return call(blocking, count, list, event);
      cl_int status = CL_SUCCESS;
      const auto over = Ref<cl_event>::adopt(cl_, cl_.clCreateUserEvent(context, &status));
      if (status == CL_SUCCESS)
        status = cl_.clSetUserEventStatus(over.get(), CL_COMPLETE);
      const cl_event before = over.get();
      return status == CL_SUCCESS ? call(blocking, 1, &before, event) : status;
    };
  task->plan = [this, held = std::move(held), call = std::move(call), isBehindAll](Task& planned) {
    const bool takesList = !isBehindAll || !shared_.userEvents;
    homeCommands_.plan(planned, held, {.enqueue = call, .takesWaitList = takesList});
  };
  return submit(lock, command, task);
}

cl_int Commands::tell(const Lock&, cl_command_queue queue) const {
  const auto stream = scheduler_.find(queue);
  return stream ? Scheduler::tell(*stream) : CL_SUCCESS;
}

cl_int Commands::tell(cl_command_queue queue) const {
  if (shared_.isQuiet())
    return CL_SUCCESS;
  const Lock lock(shared_.mutex);
  return tell(lock, queue);
}

bool Commands::mayWaitForProgram(const Stream& stream) const {
  return CallbackScope::active() ||
         (shared_.unsetUserEvents > 0 && scheduler_.waitsForProgram(stream));
}

bool Commands::mayWaitForProgram(cl_command_queue queue) const {
  if (shared_.isQuiet())
    return false;
  const Lock lock(shared_.mutex);
  const auto stream = scheduler_.find(queue);
  return stream && mayWaitForProgram(*stream);
}

cl_int Commands::settle(Pumps::Enqueuing& enqueuing, const Command& command,
                        const std::vector<BufferUse>& uses) {
  Lock lock(shared_.mutex);
  noteForOutlooks(command, uses);
  return settle(lock, enqueuing, command, uses);
}

cl_int Commands::settle(Lock& lock, Pumps::Enqueuing& enqueuing, const Command& command,
                        std::vector<BufferUse> uses) {
  auto stream = scheduler_.streamOf(lock, command.queue);
  if (!stream || !isValid(command, uses)) {
    asItCame(stream, enqueuing);
    return CL_SUCCESS;
  }
  const bool isWrong = !isPlausible(*stream, command, uses);
  if (isWrong || mayBeSkipped(command))
    uses = alsoReading(std::move(uses)); // refused, it does not replace them
  const bool isAnswerWanted =
      (isWrong || command.refusal == Refusal::All) && mayWaitForProgram(*stream);
  if (command.type == CL_COMMAND_MIGRATE_MEM_OBJECTS)
    uses.clear(); // where bytes lie is libsplit's business, and it changes none
  // Only libsplit's own events: for the application's the driver waits itself, and not in here.
  std::vector<cl_event> ours;
  for (cl_uint i = 0; i < command.waitCount && command.waitList; ++i)
    if (scheduler_.events().find(command.waitList[i]))
      ours.push_back(command.waitList[i]);
  Command internal;
  internal.queue = command.queue;
  internal.type = command.type;
  internal.blocking = CL_TRUE;
  internal.waitCount = static_cast<cl_uint>(ours.size());
  internal.waitList = ours.empty() ? nullptr : ours.data();
  if (!shared_.isActive() || tryNative(stream, enqueuing, internal, uses, nullptr))
    return CL_SUCCESS;
  if (isAnswerWanted) { // before the program does what is waited for
    asItCame(stream, enqueuing);
    return CL_SUCCESS;
  }
  // Other threads may fill the queue without end, so it has its turn there.
  for (bool isOver = false; !isOver;) {
    // Of what has ended, as far as libsplit is concerned, the driver is to hear first.
    shared_.progress.wait(lock, [&] {
      return std::ranges::all_of(ours, [&](cl_event each) {
        const auto event = scheduler_.events().find(each);
        return !event || !event->ended || isTold(*event);
      });
    });
    auto gate = create(stream, internal);
    gate->isGate = gate->open = true;
    gate->plan = [this, held = memory_.hold(uses)](Task& planned) {
      homeCommands_.plan(planned, held,
                         {[](cl_bool, cl_uint, const cl_event*, cl_event*) { return CL_SUCCESS; }});
    };
    scheduler_.submit(gate);
    const cl_int status = scheduler_.waitForTurn(lock, gate);
    const bool isLost = status < 0 && (shared_.mayHaveLost || gate->planFailed);
    isOver = isLost || !shared_.isActive() ||
             tryNative(stream, enqueuing, internal, uses, nullptr, gate.get());
    scheduler_.letPass(gate);
    if (isLost)
      return status;
    // Behind what failed nothing was brought. All of that is over by now, and of its failure the
    // driver tells.
    if (status < 0)
      internal.waitCount = 0, internal.waitList = nullptr;
  }
  return CL_SUCCESS;
}

cl_int Commands::read(const Command& command, cl_mem handle, std::size_t offset, std::size_t size,
                      void* host) {
  const BlockingCall waits(shared_, scheduler_, command.blocking != CL_FALSE);
  Pumps::Enqueuing enqueuing(pumps_, command.queue, CallTable::State::Admitted);
  if (!shared_.isQuiet()) {
    enqueuing.reconsider();
    Lock lock(shared_.mutex);
    if (const cl_int status = command.blocking ? tell(lock, command.queue) : CL_SUCCESS)
      return status;
    std::vector<BufferUse> uses = {{handle, false, offset, offset + size}};
    noteForOutlooks(command, uses);
    if (shared_.isActive() && (!host || command.blocking > CL_TRUE)) {
      Command refused = command;
      refused.refusal = host ? Refusal::Some : Refusal::All;
      settle(lock, enqueuing, refused, uses); // to be refused, and now
    } else if (auto image = shared_.isActive() ? memory_.find(handle) : nullptr;
               image && image->buffer && image->isImage()) {
      settle(lock, enqueuing, command, uses); // the same
    } else if (shared_.isActive() && !admitNative(lock, enqueuing, command, uses, nullptr)) {
      enqueuing.end();
      auto object = memory_.find(handle);
      if (!object || !object->buffer || size == 0)
        return defer(
            lock, command, uses,
            [=, this](cl_bool blocking, cl_uint count, const cl_event* list, cl_event* event) {
              return cl_.clEnqueueReadBuffer(command.queue, handle, blocking, offset, size, host,
                                             count, list, event);
            });
      auto task = create(scheduler_.find(command.queue), command);
      ByteRange bytes{object->origin + offset, object->origin + offset + size};
      task->plan = [this, object, bytes, host, mayBlock = command.blocking != CL_FALSE,
                    keep = Ref<cl_mem>::retain(cl_, handle)](Task& planned) {
        homeCommands_.planRead(planned, *object->buffer, bytes, static_cast<std::byte*>(host),
                               mayBlock);
      };
      return submit(lock, command, task);
    }
  } else if (outlooks_.isWatching()) {
    noteWhileQuiet(command, {{{handle, false, offset, offset + size}}});
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

cl_int Commands::write(const Command& command, cl_mem handle, std::size_t offset, std::size_t size,
                       const void* host) {
  auto* from = static_cast<std::byte*>(const_cast<void*>(host)); // and no more
  const BufferUse use{handle, true, offset, offset + size, false};
  if (!shared_.isQuiet()) {
    Lock lock(shared_.mutex);
    if (shared_.isActive() && isReadElsewhere(lock, command, use)) {
      const ProgramWait waits(shared_.waits, command.blocking != CL_FALSE);
      noteForOutlooks(command, {{use}});
      const auto object = memory_.find(handle);
      const ByteRange bytes{object->origin + offset, object->origin + offset + size};
      auto task = create(scheduler_.find(command.queue), command);
      task->outputs.emplace_back(object->buffer, ByteSet(bytes));
      task->plan = [this, object, bytes, from,
                    keep = Ref<cl_mem>::retain(cl_, handle)](Task& planned) {
        homeCommands_.planWrite(planned, *object->buffer, bytes, from);
      };
      return submit(lock, command, task);
    }
  }
  return enqueue(
      command, {use},
      [=, this, blocking = command.blocking != CL_FALSE,
       queue = command.queue](cl_bool block, cl_uint count, const cl_event* list, cl_event* event) {
        // Who waits for it does so also where it was put off.
        return copyNatively({queue, handle, false, offset, size, from, count, list, event}, block,
                            blocking);
      });
}

cl_int Commands::copyNatively(const BulkCopy& copy, cl_bool blocking, bool isWaitedFor) {
  if (!shared_.isActive() || !pumps_.isLarge(copy.size) || blocking > CL_TRUE)
    return copy.enqueue(cl_, blocking);
  // The event of one that goes by pump would tell the times of its last part. And with user events
  // about, what comes before may wait for the program.
  const bool isTimed =
      copy.event && property<cl_command_queue_properties>(cl_.clGetCommandQueueInfo, copy.queue,
                                                          CL_QUEUE_PROPERTIES) &
                        CL_QUEUE_PROFILING_ENABLE;
  if (!isTimed && (isWaitedFor || !shared_.userEvents))
    if (const std::optional<cl_int> status = pumps_.copy(copy, isWaitedFor))
      return *status;
  return copy.enqueue(cl_, blocking);
}

} // namespace libsplit::runtime
