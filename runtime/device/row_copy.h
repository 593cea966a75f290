// Copies between a device's copy of a buffer and the host's memory, as commands of its queue.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/device/lane.h"
#include "runtime/device/quirks.h"
#include "runtime/plan/strided_rows.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace libsplit::runtime {

/// What the program allows the host to do to a memory object (CL_MEM_HOST_...). Drivers refuse the
/// rest, to libsplit as to the program.
struct HostAccess {
  bool reads = true, writes = true;
  static HostAccess of(cl_mem_flags flags);
  bool isFull() const { return reads && writes; }
};

/// How bytes get from a device's copy of a buffer to the host's memory and back.
struct HostWay {
  cl_mem memory = nullptr;
  HostAccess access{};
  cl_mem relay = nullptr; ///< of the same context: what `access` forbids is copied through it
  std::size_t relaySize = 0;
  std::optional<ImageLayout> image{};       ///< else it is a buffer
  HostRows hostRows = HostRows::AtAnyPitch; ///< what the device's rect commands are good for
  std::uint64_t begin = 0;                  ///< the buffer's byte that is the copy's first

  explicit operator bool() const { return memory && (access.isFull() || relay); }
  bool isRelayed(bool toHost) const { return toHost ? !access.reads : !access.writes; }
};

struct RowCopy {
  cl_command_queue queue = nullptr; ///< in order
  HostWay way;
  bool toHost = false;
  std::vector<Rows> rows; ///< of an image: as asRows has them, or parts of one row
  /// Where the buffer's byte 0 would lie; or, if it is `packed`, where the first row does, and the
  /// others one behind the other.
  std::byte* host = nullptr;
  bool packed = false;

  /// With as few commands as the rows' shape allows, each behind `waits`. `last` gets the last
  /// command's event; `done`, if any, is told of those before.
  cl_int enqueue(const Dispatch& cl, WaitList waits, Completion* done, cl_event* last) const;
};

} // namespace libsplit::runtime
