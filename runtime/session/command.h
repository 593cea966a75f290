// What the program's commands are to a session, and what they do to memory.
#pragma once

#include "runtime/device/memory.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace libsplit::runtime {

/// Bytes [begin, end) of a memory object that a command reads or writes.
struct BufferUse {
  cl_mem object = nullptr;
  bool writes = false;
  std::uint64_t begin = 0;
  std::optional<std::uint64_t> end{}; ///< as the program gives it; none: the object's
  bool reads = true;                  ///< false: what was there before does not matter
};

/// Whether drivers answer a command with an error.
enum class Refusal {
  No,
  Some, ///< those that look, or those of some version
  All,  ///< the standard has them do so, at once and whatever the queue waits for
};

/// What all enqueue calls have in common.
struct Command {
  cl_command_queue queue = nullptr;
  cl_command_type type = 0;
  cl_uint waitCount = 0;
  const cl_event* waitList = nullptr;
  cl_event* event = nullptr;
  cl_bool blocking =
      CL_FALSE; ///< as the program gave it, which may be neither CL_TRUE nor CL_FALSE
  Refusal refusal = Refusal::No;
};

/// Whether there is a wait list, of events, just where one is announced.
inline bool hasSoundWaitList(const Command& command) {
  return (command.waitCount > 0) == (command.waitList != nullptr) &&
         std::all_of(command.waitList, command.waitList + command.waitCount,
                     [](cl_event event) { return event; });
}

/// Enqueues the command natively: (blocking, wait count, wait list, event).
using NativeCall = std::function<cl_int(cl_bool, cl_uint, const cl_event*, cl_event*)>;

/// Does a command in the host's memory: by use, where its object's byte 0 lies there.
using HostWork = std::function<void(std::span<std::byte* const>)>;

/// Has the driver map a buffer or an image: (queue, blocking, wait count, wait list, event, error).
using MapCall =
    std::function<void*(cl_command_queue, cl_bool, cl_uint, const cl_event*, cl_event*, cl_int*)>;

struct LaunchArguments {
  cl_kernel kernel = nullptr;
  cl_uint dimensions = 0;
  const std::size_t* offset = nullptr;
  const std::size_t* global = nullptr;
  const std::size_t* local = nullptr;
};

/// Work-items, of arguments that name an NDRange.
inline std::uint64_t itemsOf(const LaunchArguments& arguments) {
  std::uint64_t items = 1;
  for (cl_uint d = 0; d < arguments.dimensions; ++d)
    items *= arguments.global[d];
  return items;
}

/// Whether it is over only once all that came before it in its queue is, whatever its order.
inline bool isBehindAllBefore(const Command& command) {
  return command.waitCount == 0 &&
         (command.type == CL_COMMAND_BARRIER || command.type == CL_COMMAND_MARKER);
}

/// A command of the home device.
struct HomeCall {
  NativeCall enqueue;
  bool compiles = false;     ///< its driver may have to, for it
  bool takesWaitList = true; ///< else it is enqueued once all is over that it depends on
};

/// What a command of the home device does to a buffer, in the buffer's bytes.
struct HomeUse {
  std::shared_ptr<Buffer> buffer;
  ByteSet needs;
  ByteSet changes;
};

/// A use whose objects stay alive for as long as this does.
struct HeldUse {
  BufferUse use;
  std::shared_ptr<MemoryObject> object; ///< null if it is no tracked buffer
  Ref<cl_mem> handle;
};

/// The bytes of the root buffer that a use means.
inline ByteRange rootRange(const BufferUse& use, const MemoryObject& object) {
  std::uint64_t begin = std::min<std::uint64_t>(use.begin, object.size);
  std::uint64_t end = std::min<std::uint64_t>(use.end.value_or(object.size), object.size);
  return {object.origin + begin, object.origin + std::max(begin, end)};
}

} // namespace libsplit::runtime
