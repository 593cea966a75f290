// Commands of the program that run on its own device, with the bytes that they use brought there,
// and its reads and writes, which go to where the bytes are.
#pragma once

#include "runtime/device/pump.h"
#include "runtime/session/command.h"
#include "runtime/session/mover.h"
#include "runtime/session/tracked_buffers.h"

#include <memory>
#include <vector>

namespace libsplit::runtime {

/// Issues them when their tasks are planned: under the session's lock.
class HomeCommands {
public:
  HomeCommands(Shared& shared, Pumps& pumps, TrackedBuffers& tracked, Issuer& issuer, Mover& mover)
      : cl_(shared.cl), machine_(shared.machine), stats_(shared.stats), tracer_(shared.tracer),
        pumps_(pumps), tracked_(tracked), issuer_(issuer), mover_(mover) {}

  /// What of a task's outputs these uses are, for who must not read them should it fail.
  static void noteOutputs(Task& task, const std::vector<HeldUse>& uses);
  /// A command of the program's queue.
  void plan(Task& task, const std::vector<HeldUse>& uses, const HomeCall& call);
  void plan(Task& task, const std::vector<HomeUse>& uses, const HomeCall& call);
  /// One that the host does in its own memory: pooled buffers' bytes stay there, others' go home.
  void planInHost(Task& task, const std::vector<HeldUse>& uses, const HostWork& work);
  /// The program's bytes go to each node that will read them, at the same time.
  void planWrite(Task& task, Buffer& buffer, ByteRange bytes, std::byte* host);
  /// They come from where they are, from all nodes at once. `mayBlock`: the program waits for it.
  void planRead(Task& task, Buffer& buffer, ByteRange bytes, std::byte* host, bool mayBlock);

private:
  static void collectEarlier(const Task& task, std::vector<CompletionPtr>& after);
  Instruction programCopy(const DeviceEnd& end, const Buffer& buffer, const ByteSet& bytes,
                          std::byte* base, bool mayBlock);

  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Stats& stats_;
  Tracer& tracer_;
  Pumps& pumps_;
  TrackedBuffers& tracked_;
  Issuer& issuer_;
  Mover& mover_;
};

} // namespace libsplit::runtime
