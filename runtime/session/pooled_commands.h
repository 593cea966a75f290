// The program's commands on pooled buffers (pool.h), other than launches. Each is a task: what it
// uses is brought to the host's memory, and done there; reads take each byte from where it is.
//
// A map is the host's memory itself, so its address is known at once. From the map on what may be
// written lies there alone.
#pragma once

#include "runtime/session/commands.h"
#include "runtime/session/home_commands.h"
#include "runtime/session/memory_table.h"
#include "runtime/session/scheduler.h"

#include <memory>
#include <vector>

namespace libsplit::runtime {

/// Any thread, without the session's lock.
class PooledCommands {
public:
  PooledCommands(Shared& shared, Scheduler& scheduler, MemoryTable& memory, Commands& commands,
                 HomeCommands& homeCommands)
      : shared_(shared), cl_(shared.cl), scheduler_(scheduler), memory_(memory),
        commands_(commands), homeCommands_(homeCommands) {}

  /// One that the host does, by `work`, with all `uses` in its memory: buffers, some of them
  /// pooled.
  cl_int enqueue(const Command& command, const std::vector<BufferUse>& uses, HostWork work);
  cl_int read(const Command& command, const BufferUse& use, void* host);
  /// The address; null where `error` says why not. The command's `blocking` counts.
  void* map(const Command& command, const BufferUse& use, cl_int& error);
  cl_int unmap(const Command& command, cl_mem object, const void* address);
  /// How many there are of the object.
  cl_uint maps(cl_mem object) const;

private:
  /// What the program has mapped.
  struct Map {
    BufferUse use;
    const void* address = nullptr;
    std::weak_ptr<const MemoryObject> of; ///< gone: it was given up while it was mapped
  };
  cl_int errorOf(Lock& lock, const Command& command, const std::vector<BufferUse>& uses,
                 std::shared_ptr<Stream>& stream) const;
  cl_int enqueue(Lock& lock, const Command& command, const std::vector<BufferUse>& uses,
                 HostWork work);

  Shared& shared_;
  const Dispatch& cl_;
  Scheduler& scheduler_;
  MemoryTable& memory_;
  Commands& commands_;
  HomeCommands& homeCommands_;
  std::vector<Map> maps_;
};

} // namespace libsplit::runtime
