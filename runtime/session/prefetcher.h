// Sends ahead what launches of a cycle will need on other devices, while they are at home still:
// what no launch writes, nor the program between them (cost/outlook.h).
//
// A stencil's eleven fields may be gigabytes, of which two change; to bring all of them where half
// of the work is to be takes as long as forty launches, and the first split launch would wait for
// it. The links have nothing else to do while home computes.
//
// What is sent is a task of no queue, as what is sent ahead of a later launch is (mover.h): nobody
// waits for it but who uses the same bytes there, or writes them at home. But other copies of a
// device come behind it, such as what the program reads after each launch. So no more is under way
// than arrives within three quarters of what the launches take that are under way, by what the last
// of it took.
//
// Worked example: launches of 1.6 ms, each waited for, beside a link of 40 GB/s, of which it is
// only known that it might be a bus's 10. The first sends 12 MB, which arrive after 0.3 ms; those
// behind it send 48 MB each, and none while these are under way: 2.4 GB in about 50 launches.
#pragma once

#include "runtime/cost/outlook.h"
#include "runtime/session/executor.h"
#include "runtime/session/launch.h"
#include "runtime/session/mover.h"
#include "runtime/session/scheduler.h"

namespace libsplit::runtime {

/// Under the session's lock.
class Prefetcher {
public:
  Prefetcher(Shared& shared, Provider& provider, Scheduler& scheduler, Mover& mover,
             Executor& executor)
      : shared_(shared), machine_(shared.machine), provider_(provider), scheduler_(scheduler),
        mover_(mover), executor_(executor) {}

  /// A launch that would be split as `step` says, if it gains by that, is at home still: whether it
  /// has something to send, and it is time to.
  bool look(Stream& stream, const Launch& launch, const Outlook::Step& step) const;
  /// Begins to send some of that beside the launch, which `task` has issued at home. Where memory
  /// for it has to be made first, the next launch finds it there.
  void send(Task& task, Launch& launch);
  /// What has become of what launches of the queue's cycle were to send.
  LaunchCycle::Ahead stateOf(Stream& stream) const;

private:
  void noteArrived(Stream& stream) const;
  std::uint64_t allowed(const Stream& stream, const Launch& launch, NodeId node) const;
  void trySend(Task& task, Launch& launch);

  Shared& shared_;
  const std::unique_ptr<Machine>& machine_;
  Provider& provider_;
  Scheduler& scheduler_;
  Mover& mover_;
  Executor& executor_;
};

} // namespace libsplit::runtime
