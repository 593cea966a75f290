// Does first what other nodes wait for. Pure.
//
// Where iterations exchange halos, the next launch can't begin its boundary before the neighbour's
// has arrived. Whoever computes his own boundary first, by itself, can send it while he computes
// the rest; then nobody waits unless the exchange takes longer than that rest. On a GPU boundaries
// have a queue of their own (Engine::Boundaries): one that still waits for its neighbour's does not
// keep the rest waiting, and a boundary, too small for all of the device, is computed beside it.
//
// Worked example: nodes 1 and 2 have 8 rows of a stencil each, one row a work-group. Of what node 1
// writes, row 7 departs. Its piece [0, 8) becomes [7, 8) and then [0, 7). A node with neighbours on
// both sides would get [0, 1), [7, 8) and [1, 7).
#pragma once

#include "runtime/plan/planner.h"

#include <vector>

namespace libsplit::runtime {

/// By piece of a plan and buffer: bytes that will leave the piece's node once they are written.
using Departing = std::vector<std::vector<ByteSet>>;

/// `plan` with the pieces that write departing bytes in up to three parts, each a piece by itself:
/// what writes them, at its ends, then the rest. A piece stays whole if that is more than a quarter
/// of it, or more than 64 groups of the dimension that is cut; if it is not at the ends alone; if
/// parts would touch each other's bytes; and if there are merges. Pieces of a device come one after
/// another, in the order in which it is to run them.
LaunchPlan boundariesFirst(const LaunchRequest& request, std::span<const PlanDevice> devices,
                           const LaunchPlan& plan, const Departing& departing);

} // namespace libsplit::runtime
