// Merges as instructions of a launch; merge.h says what they compute and why that is right.
//
// The host's memory is where everything comes together, since all nodes can be read from there:
//
//   before the pieces   The old bytes are brought to the host. Who works in the host's memory will
//                       overwrite them there, so they are put aside; every other device keeps a
//                       copy of its own. A device that collects updates begins with neutral
//                       elements.
//   after the pieces    Each device compares its bytes with what they were, block by block, all at
//                       the same time. The blocks that changed are read into memory of their own
//                       and merged into the host's, by all lanes, each a slice.
//   in the end          The host's copy is valid. Where no other device changed a block, so is that
//                       of the device that started from the same old bytes: an iteration that
//                       changes little moves little.
//
// The host's old bytes stay what they were until all others have arrived, and what has to be
// allocated is allocated before anything begins: a plan whose merges find no memory is not begun.
// A device that can't compare leaves that to the host. Where a piece or a transfer fails, nothing
// is merged.
#pragma once

#include "runtime/session/launch.h"
#include "runtime/session/mover.h"

#include <string>

namespace libsplit::runtime {

/// Under the session's lock.
class Merger {
public:
  Merger(Shared& shared, Issuer& issuer, Mover& mover)
      : cl_(shared.cl), machine_(shared.machine), stats_(shared.stats), tracer_(shared.tracer),
        issuer_(issuer), mover_(mover) {}

  /// What a device compares by; null if it can't be built. Without the lock.
  std::shared_ptr<LaneKernel> makeComparer(std::size_t device, cl_context context);

  // A launch's merges, in this order.
  /// Asks for the memory that they take. Why there is none.
  std::string reserve(Launch& launch, const LaunchPlan& plan, Provisions& pending);
  /// Before the launch's own transfers.
  void prepare(Task& task, Launch& launch, const LaunchPlan& plan);
  /// A copy of old bytes, which are there to be overwritten once it is done.
  struct Kept {
    NodeId node = hostNode;
    CompletionPtr done;
  };
  /// After these, before the pieces.
  std::vector<Kept> snapshot(Task& task, Launch& launch);
  /// After the pieces.
  void issue(Task& task, Launch& launch);
  /// After pieces of the launch failed: the merges of what the others did.
  void redo(Task& task, Launch& launch);
  /// All is over: counts what was merged, and tells the directory who has it already.
  void finish(Launch& launch);

private:
  std::shared_ptr<LaneKernel> comparerOf(const Launch& launch, const LaunchPlan& plan,
                                         const Merge& merge, const Merge::Part& part) const;
  bool startsFromOldBytes(const LaunchPlan& plan, const Merge& merge,
                          const Merge::Part& part) const;
  void keepOldBytes(Task& task, Buffer& buffer, MergeJob& job);
  void fillNeutral(Task& task, Buffer& buffer, const MergeJob& job, std::size_t part);
  CompletionPtr compareOnDevice(Task& task, Buffer& buffer, const std::shared_ptr<MergeJob>& job,
                                std::size_t part);
  CompletionPtr readBack(Task& task, Buffer& buffer, const std::shared_ptr<MergeJob>& job,
                         std::size_t part);
  void restoreHost(Task& task, const Launch& launch, MergeJob& job);
  std::vector<CompletionPtr> readParts(Task& task, Launch& launch);
  void issueMerge(Task& task, Launch& launch, const std::shared_ptr<MergeJob>& job,
                  std::vector<CompletionPtr> arrived);

  const Dispatch& cl_;
  const std::unique_ptr<Machine>& machine_;
  Stats& stats_;
  Tracer& tracer_;
  Issuer& issuer_;
  Mover& mover_;
};

} // namespace libsplit::runtime
