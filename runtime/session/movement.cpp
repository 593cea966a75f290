// Commands that run at home, or read what lies elsewhere, with the bytes that they use brought
// there.
#include "runtime/core/log.h"
#include "runtime/session/launch.h"
#include "runtime/session/session.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace libsplit::runtime {

/// Engages all buffers of a launch. Why not, if one can't be; or the task waits until it is known
/// where they lie, and until native commands on them are over that were not ordered against it.
std::string Session::engage(Task& task, const Launch& launch) {
  bool found = true;
  for (const auto& buffer : launch.buffers) {
    tracked_.track(*buffer);
    if (auto search = buffer->addressSearch(*machine_)) {
      if (!std::exchange(search->issued, true))
        issue(search, *buffer);
      task.awaited.push_back(search->done);
    } else if (machine_->homeDevice().node == hostNode) {
      found = found && buffer->hostMemory(*machine_);
    }
  }
  if (!found)
    return "a buffer's address can't be had";
  return awaitNativeWork(task, launch) ? "" : "commands of other queues may wait for the program";
}

/// What other queues do to the buffers natively comes before the launch. False if that may depend
/// on what the program does next.
bool Session::awaitNativeWork(Task& task, const Launch& launch) {
  const cl_command_queue own = task.stream->inOrder ? task.stream->queue : nullptr;
  std::optional<std::vector<CompletionPtr>> ends;
  for (const auto& buffer : launch.buffers) {
    UnbookedWork& unbooked = buffer->unbooked;
    unbooked.isAskedFor(own);
    if (!unbooked.ends && !unbooked.calls)
      unbooked.calls = callsBeside(task);
    if (!unbooked.ends && !unbooked.calls->areOver()) {
      if (userEvents_)
        return false;
      task.calls = unbooked.calls;
      continue; // and what is admitted from here on is booked
    }
    if (!unbooked.ends) {
      if (!ends)
        ends = nativeWorkBeside(*task.stream);
      if (!ends)
        return false;
      unbooked.found(own, *ends);
    }
    std::erase_if(*unbooked.ends, [](const CompletionPtr& each) { return each->over(); });
    if (!unbooked.ends->empty() && userEvents_)
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
std::shared_ptr<const CallTable::Awaited> Session::callsBeside(const Task& task) {
  // In its own queue, in order, it has been behind all of them since it was submitted.
  const cl_command_queue own = task.stream->inOrder ? task.stream->queue : nullptr;
  return std::make_shared<CallTable::Awaited>(
      calls_.await(own, CallTable::Queues::Others, task.within));
}

/// The ends of all that other queues, or one that is out of order itself, have natively now. A
/// device that runs commands in the caller has done what calls were made for that are over.
/// Nothing if a driver does not tell.
std::optional<std::vector<CompletionPtr>> Session::nativeWorkBeside(const Stream& stream) {
  std::vector<CompletionPtr> ends;
  if (machine_->homeDevice().runsInCaller)
    return ends; // no other thread may use its queues
  for (const auto& [queue, each] : streams_) {
    if (each.get() == &stream && stream.inOrder)
      continue;
    cl_event marker = nullptr;
    if (cl_.clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker) != CL_SUCCESS)
      return std::nullopt;
    cl_.clFlush(queue);
    auto owned = Ref<cl_event>::adopt(cl_, marker);
    if (property<cl_int>(cl_.clGetEventInfo, marker, CL_EVENT_COMMAND_EXECUTION_STATUS) <=
        CL_COMPLETE)
      continue;
    auto end = std::make_shared<Completion>(cl_);
    if (!callOnEnd(marker, [this, end] {
          end->finish(CL_SUCCESS);
          Lock lock(mutex_);
          pumpAll();
        }))
      return std::nullopt;
    ends.push_back(std::move(end));
  }
  return ends;
}

/// Keeps book of a native command's writes to engaged buffers: `noted` is to be told of its end, if
/// there is anything to note. False if it must not be native: what it waits for may depend on the
/// program, and others could not wait for it then.
bool Session::bookNativeWrites(const std::shared_ptr<Stream>& stream,
                               const std::vector<BufferUse>& uses, CompletionPtr* noted) {
  const bool severalQueues = streams_.size() > 1;
  for (const BufferUse& use : uses) {
    auto object = use.writes && use.object ? findObject(use.object) : nullptr;
    if (!object || !object->buffer || !object->buffer->engaged())
      continue;
    Buffer& buffer = *object->buffer;
    if (severalQueues && !noted) {
      buffer.unbooked = {};
    } else if (severalQueues) {
      if (userEvents_)
        return false;
      if (!*noted)
        *noted = std::make_shared<Completion>(cl_);
      std::erase_if(buffer.nativeWrites,
                    [](const NativeWrite& write) { return write.done->poll(); });
      buffer.nativeWrites.push_back({stream, *noted});
    }
    const ByteSet bytes(rootRange(use, *object));
    buffer.wrote(machine_->homeDevice().node, bytes);
    shared_.tracer.writesNatively(buffer, bytes);
  }
  return true;
}

cl_int Session::callNoted(const Command& command, const CompletionPtr& noted,
                          const NativeCall& call) {
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

void Session::issue(const std::shared_ptr<AddressSearch>& search, const Buffer& buffer) {
  Instruction ask;
  ask.done = search->done;
  ask.run = [this, search, queue = machine_->queueOf(machine_->home(), buffer.context()),
             home = Ref<cl_mem>::retain(cl_, buffer.home()), size = buffer.size(),
             access = buffer.homeAccess(),
             asks = machine_->nativeKernelsTell()](WaitList, cl_event*) {
    const cl_map_flags how = access.reads ? CL_MAP_READ : access.writes ? CL_MAP_WRITE : 0;
    // The last byte: an unmap is told by its address, and the program may map the first.
    if (void* last = how ? hostAddress(cl_, queue, home.get(), size - 1, 1, how) : nullptr)
      search->address = static_cast<std::byte*>(last) - (size - 1);
    else if (!how && asks)
      search->address = static_cast<std::byte*>(nativeAddress(cl_, queue, home.get()));
    resolver_.post([this, done = search->done] {
      done->wait();
      Lock lock(mutex_);
      goOn();
    });
    return CL_SUCCESS;
  };
  machine_->homeDevice().lane().issue(std::move(ask));
}

std::vector<HeldUse> Session::hold(const std::vector<BufferUse>& uses) {
  std::vector<HeldUse> held;
  for (const BufferUse& use : uses)
    if (use.object)
      held.push_back({use, findObject(use.object), Ref<cl_mem>::retain(cl_, use.object)});
  return held;
}

void Session::noteOutputs(Task& task, const std::vector<HeldUse>& uses) {
  for (const HeldUse& held : uses)
    if (held.use.writes && held.object && held.object->buffer)
      task.outputs.emplace_back(held.object->buffer, ByteSet(rootRange(held.use, *held.object)));
}

bool Session::homeIsCurrent(const std::vector<BufferUse>& uses) {
  for (const BufferUse& use : uses) {
    auto object = use.object ? findObject(use.object) : nullptr;
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
bool Session::isReadElsewhere(Lock& lock, const Command& command, const BufferUse& use) {
  constexpr std::uint64_t worthIt = std::uint64_t{1} << 16; // else a transfer takes as long
  const auto object = findObject(use.object);
  if (!object || !object->buffer || !object->buffer->engaged() || object->buffer->isImage())
    return false;
  Buffer& buffer = *object->buffer;
  buffer.readers().programWrites();
  const Device& home = machine_->homeDevice();
  const auto stream = streamOf(lock, command.queue);
  if (machine_->nodes() < 2 || home.node == hostNode || steppingAside_ || !stream ||
      !isValid(command, {use}) || !isOfOneContext(*stream, command, {use}) ||
      !hostMayDo(command, {use}) || isBusy({use}))
    return false;
  const auto parts = buffer.readers().shareOut(ByteSet(rootRange(use, *object)), home.node);
  return std::ranges::any_of(parts, [&](const auto& part) {
    return part.first != home.node && part.first != hostNode && part.second.size() >= worthIt;
  });
}

} // namespace libsplit::runtime