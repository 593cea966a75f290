#include "runtime/session/pooled_commands.h"

#include "runtime/core/log.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

/// What a driver would answer. `stream` gets the command's queue.
cl_int PooledCommands::errorOf(Lock& lock, const Command& command,
                               const std::vector<BufferUse>& uses,
                               std::shared_ptr<Stream>& stream) const {
  stream = scheduler_.streamOf(lock, command.queue);
  if (!stream)
    return CL_INVALID_COMMAND_QUEUE;
  if (!hasSoundWaitList(command))
    return CL_INVALID_EVENT_WAIT_LIST;
  const bool isHint = command.type == CL_COMMAND_MIGRATE_MEM_OBJECTS; // and touches nothing
  for (const BufferUse& use : uses) {
    const auto object = use.object ? memory_.find(use.object) : nullptr;
    if (!object)
      return CL_INVALID_MEM_OBJECT;
    if (isHint)
      continue;
    if (!object->buffer || object->buffer->isImage() || !object->buffer->homeOnly().empty()) {
      log(LogLevel::Warn,
          "a command on a pooled buffer uses an object that can't leave its device");
      return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
  }
  if (!commands_.isOfOneContext(*stream, command, uses))
    return CL_INVALID_CONTEXT;
  if (!commands_.isValid(command, uses))
    return CL_INVALID_VALUE;
  return commands_.hostMayDo(command, uses) ? CL_SUCCESS : CL_INVALID_OPERATION;
}

cl_int PooledCommands::enqueue(const Command& command, const std::vector<BufferUse>& uses,
                               HostWork work) {
  Lock lock(shared_.mutex);
  return enqueue(lock, command, uses, std::move(work));
}

cl_int PooledCommands::enqueue(Lock& lock, const Command& command,
                               const std::vector<BufferUse>& uses, HostWork work) {
  std::shared_ptr<Stream> stream;
  if (const cl_int error = errorOf(lock, command, uses, stream))
    return error;
  auto task = scheduler_.create(stream, command);
  scheduler_.attachEvent(*task, command);
  task->isPooled = true;
  const bool isHint = command.type == CL_COMMAND_MIGRATE_MEM_OBJECTS;
  auto held = isHint ? std::vector<HeldUse>() : memory_.hold(uses);
  HomeCommands::noteOutputs(*task, held);
  task->plan = [this, held = std::move(held), work = std::move(work)](Task& planned) {
    homeCommands_.planInHost(planned, held, work);
  };
  return commands_.submit(lock, command, task);
}

cl_int PooledCommands::read(const Command& command, const BufferUse& use, void* host) {
  Lock lock(shared_.mutex);
  std::shared_ptr<Stream> stream;
  if (const cl_int error = errorOf(lock, command, {use}, stream))
    return error;
  auto task = scheduler_.create(stream, command);
  scheduler_.attachEvent(*task, command);
  const auto object = memory_.find(use.object);
  task->plan = [this, object, bytes = rootRange(use, *object), host,
                mayBlock = command.blocking != CL_FALSE,
                keep = Ref<cl_mem>::retain(cl_, use.object)](Task& planned) {
    homeCommands_.planRead(planned, *object->buffer, bytes, static_cast<std::byte*>(host),
                           mayBlock);
  };
  return commands_.submit(lock, command, task);
}

void* PooledCommands::map(const Command& command, const BufferUse& use, cl_int& error) {
  Lock lock(shared_.mutex);
  const auto object = memory_.find(use.object);
  error = enqueue(lock, command, {use}, [](std::span<std::byte* const>) {});
  if (error != CL_SUCCESS)
    return nullptr;
  const std::byte* address = object->buffer->pooled()->address + object->origin + use.begin;
  std::erase_if(maps_, [](const Map& each) { return each.of.expired(); });
  maps_.push_back({use, address, object});
  return const_cast<std::byte*>(address);
}

cl_int PooledCommands::unmap(const Command& command, cl_mem object, const void* address) {
  Lock lock(shared_.mutex);
  const auto known = memory_.find(object);
  const auto isIt = [&](const Map& each) {
    return each.address == address && each.of.lock() == known;
  };
  const auto map = std::ranges::find_if(maps_, isIt);
  if (map == maps_.end())
    return CL_INVALID_VALUE;
  const Map mapped = *map;
  maps_.erase(map); // for the lock may be given up
  BufferUse use = mapped.use;
  use.reads = false;
  const cl_int status = enqueue(lock, command, {use}, [](std::span<std::byte* const>) {});
  if (status != CL_SUCCESS)
    maps_.push_back(mapped);
  return status;
}

cl_uint PooledCommands::maps(cl_mem object) const {
  const Lock lock(shared_.mutex);
  const auto known = memory_.find(object);
  return static_cast<cl_uint>(
      std::ranges::count_if(maps_, [&](const Map& each) { return each.of.lock() == known; }));
}

} // namespace libsplit::runtime
