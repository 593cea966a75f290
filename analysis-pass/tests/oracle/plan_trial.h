// Launches in parts, without OpenCL: the runtime's planner says which device does what and which
// bytes it needs, and each part runs on a memory of its own that holds these bytes and garbage.
// What the plan puts together must be what the launch leaves in one piece.
#pragma once

#include "analysis-pass/tests/oracle/trial.h"

namespace libsplit::oracle {

struct PlanTally {
  unsigned plans = 0, refused = 0;
  unsigned rungs[5] = {}; ///< plans by rung
};

/// Of a launch that has one result in any order, with `memories` as they are before it; afterwards
/// they hold anything. Empty, or what was wrong.
std::string tryPlan(const Kernel& kernel, const KernelSummary& summary, const Launch& launch,
                    const Memories& memories, std::uint64_t maxSteps, std::mt19937& random,
                    PlanTally& tally);

} // namespace libsplit::oracle
