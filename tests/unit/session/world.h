// What the session's parts rest on, on a fake OpenCL with two GPUs: the first is the program's own
// device. Both have memories of their own, nodes 1 and 2.
#pragma once

#include "runtime/device/provider.h"
#include "runtime/session/issuer.h"
#include "runtime/session/mover.h"
#include "runtime/session/shared.h"
#include "runtime/session/tracked_buffers.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace libsplit::runtime {

using Bytes = std::vector<std::byte>;

/// Bytes that differ from their neighbours, and from those of another `seed`.
Bytes someBytes(std::size_t size, unsigned seed = 0);

struct World {
  /// `stagingBytes`: what may be on its way from one memory to another.
  explicit World(std::size_t stagingBytes = std::size_t{1} << 20, Options options = {});

  /// A buffer of the program's that holds `bytes`, and is tracked.
  std::shared_ptr<Buffer> buffer(const Bytes& bytes);
  /// Makes a copy exist on device `on`, of all or these bytes.
  void makeRoom(Buffer& buffer, std::size_t on) { makeRoom(buffer, on, {0, buffer.size()}); }
  void makeRoom(Buffer& buffer, std::size_t on, const ByteRange& bytes);
  /// What that copy holds, valid or not.
  Bytes read(Buffer& buffer, std::size_t on);
  /// Writes there as a kernel would, and keeps no book of it.
  void write(Buffer& buffer, std::size_t on, std::size_t offset, const Bytes& bytes);
  NodeId nodeOf(std::size_t on) const { return shared.machine->devices()[on].node; }
  CompletionPtr completion() const { return std::make_shared<Completion>(cl); }

  const Dispatch& cl;
  cl_device_id device = nullptr;
  Ref<cl_context> context;
  Ref<cl_command_queue> queue; ///< the program's
  Shared shared;
  Provider provider{[] {}};
  TrackedBuffers tracked{shared};
  Issuer issuer{shared};
  Mover mover{shared, issuer};
};

/// Of kernels that take windows, none.
inline CompletionPtr nothingIsBuilt(const std::shared_ptr<Program>&,
                                    const std::shared_ptr<KernelCode>&, std::size_t) {
  return nullptr;
}
/// The worst status of all that was issued for the task, once it is over.
cl_int await(const Task& task);
/// An instruction of the host's.
Instruction step(std::function<cl_int()> body);

} // namespace libsplit::runtime
