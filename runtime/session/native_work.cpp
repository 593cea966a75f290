#include "runtime/session/native_work.h"

#include "runtime/session/launch.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

std::string NativeWork::engage(Task& task, const Launch& launch) {
  bool found = true;
  for (const auto& buffer : launch.buffers) {
    tracked_.track(*buffer);
    if (auto search = buffer->addressSearch(*machine_)) {
      if (!search->issued && !issue(search, *buffer))
        return "there is no thread to wait for a buffer's address";
      task.awaited.push_back(search->done);
    } else if (machine_->homeDevice().node == hostNode) {
      found = found && buffer->hostMemory(*machine_);
    }
  }
  if (!found)
    return "a buffer's address can't be had";
  return await(task, launch) ? "" : "commands of other queues may wait for the program";
}

/// What other queues do to the buffers natively comes before the launch. False if that may depend
/// on what the program does next.
bool NativeWork::await(Task& task, const Launch& launch) {
  const cl_command_queue own = task.stream->inOrder ? task.stream->queue : nullptr;
  std::optional<std::vector<CompletionPtr>> ends;
  for (const auto& buffer : launch.buffers) {
    UnbookedWork& unbooked = buffer->unbooked;
    unbooked.isAskedFor(own);
    if (!unbooked.ends && !unbooked.calls)
      unbooked.calls = callsBeside(task);
    if (!unbooked.ends && !unbooked.calls->areOver()) {
      if (shared_.userEvents)
        return false;
      task.calls = unbooked.calls;
      continue; // and what is admitted from here on is booked
    }
    if (!unbooked.ends) {
      if (!ends)
        ends = workBeside(*task.stream);
      if (!ends)
        return false;
      unbooked.found(own, *ends);
    }
    std::erase_if(*unbooked.ends, [](const CompletionPtr& each) { return each->over(); });
    if (!unbooked.ends->empty() && shared_.userEvents)
      return false;
    task.awaited.insert(task.awaited.end(), unbooked.ends->begin(), unbooked.ends->end());
    for (const NativeWrite& write : buffer->nativeWrites)
      if (write.stream.lock() != task.stream || !task.stream->inOrder)
        task.after.push_back(write.done);
  }
  return true;
}

/// The calls that are about to enqueue something in other queues, or in one that is out of order
/// itself.
std::shared_ptr<const CallTable::Awaited> NativeWork::callsBeside(const Task& task) {
  // In its own queue, in order, it has been behind all of them since it was submitted.
  const cl_command_queue own = task.stream->inOrder ? task.stream->queue : nullptr;
  return std::make_shared<CallTable::Awaited>(
      scheduler_.calls().await(own, CallTable::Queues::Others, task.within));
}

/// The ends of all that other queues, or one that is out of order itself, have natively now. A
/// device that runs commands in the caller has done what calls were made for that are over.
/// Nothing if a driver does not tell.
std::optional<std::vector<CompletionPtr>> NativeWork::workBeside(const Stream& stream) {
  std::vector<CompletionPtr> ends;
  if (machine_->homeDevice().runsInCaller)
    return ends; // no other thread may use its queues
  for (const auto& [queue, each] : scheduler_.streams()) {
    if (each.get() == &stream && stream.inOrder)
      continue;
    cl_event marker = nullptr;
    if (cl_.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker) != CL_SUCCESS)
      return std::nullopt;
    cl_.clFlush(queue);
    auto owned = Ref<cl_event>::adopt(cl_, marker);
    if (executionStatus(cl_, marker) <= CL_COMPLETE)
      continue;
    auto end = std::make_shared<Completion>(cl_);
    if (!scheduler_.callOnEnd(marker, [this, end](cl_int) {
          end->finish(CL_SUCCESS);
          scheduler_.goOnUnlocked();
        }))
      return std::nullopt;
    ends.push_back(std::move(end));
  }
  return ends;
}

bool NativeWork::book(const std::shared_ptr<Stream>& stream, const std::vector<BufferUse>& uses,
                      CompletionPtr* noted) {
  // Then a launch need not come behind it (Scheduler::needsMarker).
  const bool userEvents = shared_.userEvents; // another thread may make the first one
  const bool isUnordered = scheduler_.streams().size() > 1 || (!stream->inOrder && userEvents);
  for (const BufferUse& use : uses) {
    const auto& object = memory_.find(use.object);
    if (!use.writes || !object || !object->buffer || !object->buffer->engaged())
      continue;
    Buffer& buffer = *object->buffer;
    if (isUnordered && !noted) {
      buffer.unbooked = {};
    } else if (isUnordered) {
      if (userEvents)
        return false; // before the first is booked
      if (!*noted)
        *noted = std::make_shared<Completion>(cl_);
      std::erase_if(buffer.nativeWrites,
                    [](const NativeWrite& write) { return write.done->poll(); });
      buffer.nativeWrites.push_back({stream, *noted});
    }
    const ByteSet bytes(rootRange(use, *object));
    const NodeId home = machine_->homeDevice().node;
    // Whatever else fails, this is not taken back.
    buffer.journal().note(buffer.directory().state(), Journal::Effect::Overwrites, home, bytes, {});
    buffer.wrote(home, bytes);
    shared_.tracer.writesNatively(buffer, bytes);
  }
  return true;
}

cl_int NativeWork::callNoted(const Command& command, const CompletionPtr& noted,
                             const NativeCall& call) const {
  cl_event event = nullptr;
  cl_int status = CL_OUT_OF_HOST_MEMORY;
  try {
    status = call(command.blocking, command.waitCount, command.waitList, &event);
  } catch (...) {
    noted->finish(CL_SUCCESS);
    throw;
  }
  if (status != CL_SUCCESS) {
    noted->finish(CL_SUCCESS); // it does nothing that others have to wait for
    return status;
  }
  // Who waits for it is another thread, and must not have to flush.
  cl_.clFlush(command.queue);
  noted->submit(command.event ? Ref<cl_event>::retain(cl_, event)
                              : Ref<cl_event>::adopt(cl_, event),
                nullptr);
  if (command.event)
    *command.event = event;
  return status;
}

/// False: it takes a thread, and there is none to be had.
bool NativeWork::issue(const std::shared_ptr<AddressSearch>& search, const Buffer& buffer) {
  auto goOn = scheduler_.goingOnAfter(search->done);
  if (!goOn)
    return false;
  search->issued = true;
  Instruction ask;
  ask.done = search->done;
  ask.run = [this, search, queue = machine_->queueOf(machine_->home(), buffer.context()),
             home = Ref<cl_mem>::retain(cl_, buffer.home()), size = buffer.size(),
             access = buffer.homeAccess(), asks = machine_->nativeKernelsTell(),
             goOn = std::move(goOn)](WaitList, Completion&, cl_event*) {
    const cl_map_flags how = access.reads ? CL_MAP_READ : access.writes ? CL_MAP_WRITE : 0;
    // The last byte: an unmap is told by its address, and the program may map the first.
    if (void* last = how ? hostAddress(cl_, queue, home.get(), size - 1, 1, how) : nullptr)
      search->address = static_cast<std::byte*>(last) - (size - 1);
    else if (!how && asks)
      search->address = static_cast<std::byte*>(nativeAddress(cl_, queue, home.get()));
    goOn();
    return CL_SUCCESS;
  };
  machine_->homeDevice().lane().issue(std::move(ask));
  return true;
}

} // namespace libsplit::runtime
