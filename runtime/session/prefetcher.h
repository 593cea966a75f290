// Sends ahead what launches of a cycle will need on other devices, while they are at home still:
// what no launch writes, nor the program between them (cost/outlook.h).
//
// A stencil's eleven fields may be gigabytes, of which two change; to bring all of them where half
// of the work is to be takes as long as forty launches, and the first split launch would wait for
// it. The links have nothing else to do while home computes.
//
// What is sent is a task of no queue, as what is sent ahead of a later launch is (mover.h): nobody
// waits for it but who uses the same bytes there, or writes them at home. But other copies of a
// device come behind it, such as what the program reads after each launch. So no launch sends more
// than goes while it runs: each sends half as much again as the one before it, if that was over in
// time, or waits for it, and then half.
//
// Worked example: launches of 1.6 ms beside a link of 40 GB/s. They send 8, 12, 18, 27, 40, 60 and
// 90 MiB, of which the last is late; the next sends nothing, the one after it 45 MiB, and so
// on: 2.4 GB in about 50 launches.
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
  /// has something to send, and it is time to. Slows down if what was sent last is late.
  bool look(Stream& stream, const Launch& launch, const Outlook::Step& step) const;
  /// Begins to send some of that beside the launch, which `task` has issued at home. Where memory
  /// for it has to be made first, the next launch finds it there.
  void send(Task& task, Launch& launch);
  /// What has become of what launches of the queue's cycle were to send.
  static LaunchCycle::Ahead stateOf(Stream& stream);

private:
  static bool isUnderWay(Stream& stream);
  void trySend(Task& task, Launch& launch);

  Shared& shared_;
  const std::unique_ptr<Machine>& machine_;
  Provider& provider_;
  Scheduler& scheduler_;
  Mover& mover_;
  Executor& executor_;
};

} // namespace libsplit::runtime
