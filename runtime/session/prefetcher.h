// Sends ahead what launches of a cycle will need on other devices, while they are at home still:
// what no launch writes, nor the program between them (cost/outlook.h).
//
// A stencil's eleven fields may be gigabytes, of which two change; to bring all of them where half
// of the work is to be takes as long as forty launches, and the first split launch would wait for
// it. The links have nothing else to do while home computes.
//
// What is sent is a task of no queue, as what is sent ahead of a later launch is (mover.h): nobody
// waits for it but who uses the same bytes there, or writes them at home.
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

  /// Whether the launch has something to send, split as `step` says, and may.
  bool wants(Stream& stream, const Launch& launch, const Outlook::Step& step) const;
  /// Begins to send that beside the launch, which `task` is about to issue at home. Where memory
  /// for it has to be made first, the next launch finds it there.
  void send(Task& task, Launch& launch);
  /// Whether something that launches of the queue were to send is to be sent or on its way.
  static bool isSending(Stream& stream);

private:
  void trySend(Task& task, Launch& launch);

  Shared& shared_;
  const std::unique_ptr<Machine>& machine_;
  Provider& provider_;
  Scheduler& scheduler_;
  Mover& mover_;
  Executor& executor_;
};

} // namespace libsplit::runtime
