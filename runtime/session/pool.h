// The memories of all devices as one (LIBSPLIT_POOL_MEMORY): what the program is told of them, and
// the buffers that it may make because of that.
//
// A *pooled* buffer is one that the program's own device can't hold beside its others, or does not
// allow. The program's handle for it is a small buffer of the driver's, which keeps count of
// references, is an argument of kernels and has a context, and of which nobody ever uses a byte.
// The bytes are at home in the host's memory (Buffer::pooled), and every device, the program's own
// too, has a copy of what it works on. So the driver never gets to see a command on one:
// pooled_commands.h has them done in the host's memory or read from where the bytes are,
// pooled_launches.h launches.
//
// The host's memory is promised when such a buffer is made, and taken as it is used. A buffer that
// it could not keep is refused then, and nothing can run out of it later.
#pragma once

#include "runtime/plan/pool.h"
#include "runtime/session/memory_table.h"
#include "runtime/session/preparer.h"
#include "runtime/session/shared.h"
#include "runtime/session/tracked_buffers.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace libsplit::runtime {

/// Bytes of the program's own device's memory that launches are to have there, one after another.
class Promises {
public:
  /// One more, for as long as what is returned lives.
  std::shared_ptr<const void> add(std::uint64_t bytes);
  std::uint64_t most() const;

private:
  struct State {
    std::mutex mutex;
    std::multiset<std::uint64_t> bytes;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Any thread, without the session's lock where nothing else is said.
class Pool {
public:
  Pool(Shared& shared, MemoryTable& memory, TrackedBuffers& tracked, Preparer& preparer)
      : shared_(shared), cl_(shared.cl), memory_(memory), tracked_(tracked), preparer_(preparer) {}

  /// Whether the program asked for one. It may have none even so: on a machine without a second
  /// memory, or if its device works in the host's.
  bool isOn() const { return shared_.options.poolMemory > 0 && shared_.isActive(); }
  /// Whether there are, or were, pooled buffers.
  bool isUsed() const { return isUsed_; }
  /// What the program is told of a device: how many bytes buffers may take there, and one may.
  /// Nothing: what the driver says.
  std::optional<std::uint64_t> memoryOf(cl_device_id device);

  /// What became of a call that makes a buffer.
  struct Made {
    cl_mem handle = nullptr;
    cl_int status = CL_SUCCESS;
  };
  /// Makes a pooled one where there is to be one; nothing: the driver is to make it. `wasRefused`:
  /// it had no room.
  std::optional<Made> create(cl_context context, cl_mem_flags flags, std::size_t size, void* host,
                             bool wasRefused);
  /// The driver made one.
  void createdAtHome(cl_mem object);
  /// A part of a pooled buffer; nothing: `parent` is none.
  std::optional<Made> createPart(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                 const void* info);

  /// Null unless it is pooled.
  std::shared_ptr<MemoryObject> find(cl_mem object) const;
  // With the lock.
  /// The same.
  std::shared_ptr<MemoryObject> findLocked(cl_mem object) const;
  /// Bytes of a device's memory for copies of buffers.
  std::uint64_t roomOn(std::size_t device) const;
  /// A launch that was taken will need so many of home's. What the program makes meanwhile leaves
  /// these free.
  std::shared_ptr<const void> promise(std::uint64_t bytes) { return promises_.add(bytes); }

private:
  const std::vector<ListedDevice>& listed();
  bool hasOwnMemory(const ListedDevice& device) const;
  std::uint64_t memoryToPool(const ListedDevice& device, cl_device_id home) const;
  bool isMachineOf(Lock& lock, cl_context context, cl_device_id home);
  std::optional<Made> make(Lock& lock, cl_context context, cl_mem_flags flags, std::size_t size,
                           void* host);

  using Taken = std::shared_ptr<std::atomic<std::uint64_t>>;

  Shared& shared_;
  const Dispatch& cl_;
  MemoryTable& memory_;
  TrackedBuffers& tracked_;
  Preparer& preparer_;
  std::atomic<bool> isUsed_{false};
  std::once_flag isListed_;
  std::vector<ListedDevice> listed_;
  Taken atHome_ = std::make_shared<std::atomic<std::uint64_t>>(0); ///< by the driver's buffers
  Promises promises_;
  Taken pooled_ = std::make_shared<std::atomic<std::uint64_t>>(0); ///< of the host's memory
  std::optional<std::uint64_t> host_; ///< what there is of that; found out when it is first needed
};

} // namespace libsplit::runtime
