// What the program's queues do natively beside launches that are split: launches come after it
// where they use the same buffers, and its writes are kept book of.
#pragma once

#include "runtime/session/command.h"
#include "runtime/session/memory_table.h"
#include "runtime/session/scheduler.h"
#include "runtime/session/tracked_buffers.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace libsplit::runtime {

struct Launch;

/// Under the session's lock, where nothing else is said.
class NativeWork {
public:
  NativeWork(Shared& shared, Scheduler& scheduler, TrackedBuffers& tracked, MemoryTable& memory)
      : shared_(shared), cl_(shared.cl), machine_(shared.machine), scheduler_(scheduler),
        tracked_(tracked), memory_(memory) {}

  /// Has book kept of all buffers of a launch. Why not, if one can't be; or the task waits until it
  /// is known where they lie, and until native commands on them are over that were not ordered
  /// against it.
  std::string engage(Task& task, const Launch& launch);

  /// Keeps book of a native command's writes to tracked buffers: `noted` is to be told of its end,
  /// if there is anything to note. False if it must not be native: what it waits for may depend on
  /// the program, and others could not wait for it then.
  bool book(const std::shared_ptr<Stream>& stream, const std::vector<BufferUse>& uses,
            CompletionPtr* noted);
  /// Enqueues a command and tells `noted` of its end. Without the lock.
  cl_int callNoted(const Command& command, const CompletionPtr& noted,
                   const NativeCall& call) const;

private:
  bool await(Task& task, const Launch& launch);
  std::shared_ptr<const CallTable::Awaited> callsBeside(const Task& task);
  std::optional<std::vector<CompletionPtr>> workBeside(const Stream& stream);
  bool issue(const std::shared_ptr<AddressSearch>& search, const Buffer& buffer);

  Shared& shared_;
  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Scheduler& scheduler_;
  TrackedBuffers& tracked_;
  MemoryTable& memory_;
};

} // namespace libsplit::runtime
