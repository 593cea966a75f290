// One launch that is given out piece by piece, to devices that ask for more as they finish.
#pragma once

#include "runtime/session/launch.h"
#include "runtime/session/stream.h"

#include "solver/chunk_plan.h"

#include <vector>

namespace libsplit::runtime {

struct ChunkedLaunch {
  explicit ChunkedLaunch(std::size_t count) : plan(static_cast<unsigned>(count)) {}

  // Dropped when everything is issued: the task itself holds the launch until it retires.
  std::shared_ptr<Task> task;
  std::shared_ptr<Launch> launch;

  std::vector<std::size_t> members; ///< devices that take part; the plan's devices, in its order
  std::size_t home = 0;             ///< the program's own device, as a member
  solver::ChunkPlan plan;
  unsigned dimension = 0;
  std::vector<PlanDevice> devices;
  bool probing = true;         ///< only the home device works, as far as its part seems short
  std::uint64_t homeTakes = 0; ///< … and then takes so many groups at once; 0: as planned
  unsigned working = 0;        ///< members that may still ask

  std::vector<CompletionPtr> chunks; ///< issued

  /// A chunk whose device may store back what others write (Effect::Rewrite).
  struct Rewriting {
    CompletionPtr done;
    NodeId node = hostNode;
    std::vector<PieceUse> uses; ///< by buffer
  };
  std::vector<Rewriting> rewriting;
};

} // namespace libsplit::runtime
