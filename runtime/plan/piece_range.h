// The NDRange of one piece of a launch, as the driver gets it. Pure.
//
// Where the program gave a local size, the piece has it. Where it left it open, the kernel's result
// does not depend on it (else the launch is not split), and drivers would choose: by the piece's
// global size, which changes with the shares from launch to launch. A driver that builds a kernel
// for each local size (PoCL does) would build it again and again. So all pieces of a launch get one
// local size, which depends on its NDRange and on the dimension of the cut only.
//
// Worked example: 1000 work-items are cut in units of 8, and so the local size is 8: pieces of 504
// and 496. Of 1003 work-items the last 3 make no whole work-group; they are a launch of their own,
// the piece's `rest`, whose local size is left to the driver: it is the same rest every time.
#pragma once

#include "analysis-pass/summary/ndrange.h"

#include <array>
#include <cstddef>
#include <optional>

namespace libsplit::runtime {

/// What clEnqueueNDRangeKernel takes.
struct EnqueuedRange {
  std::array<std::size_t, 3> offset{0, 0, 0};
  std::array<std::size_t, 3> global{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};
  bool localGiven = false; ///< false: NULL
  bool operator==(const EnqueuedRange&) const = default;
};

struct PieceRange {
  EnqueuedRange body;
  std::optional<EnqueuedRange> rest; ///< enqueued before the body
};

/// The unit in which dimension `d` is cut when the local size is left open: large
/// enough that a work-group of that size is a good one, small enough for fine shares.
std::uint64_t cutUnit(unsigned d, std::uint64_t global);

/// The most that a work-group may have on every device that takes part.
struct GroupLimits {
  std::uint64_t items = 1;
  std::array<std::uint64_t, 3> byDimension{1, 1, 1};
};

/// The groups `box` of `range`, with its local size or, where that was left open, none.
EnqueuedRange enqueuedRange(const NDRange& range, bool localGiven, const GroupBox& box);

/// The groups `box` of `range`, which is cut in `dimension` only. `range.local` is the program's
/// local size if `localGiven`, else the unit of cutting. With `chosen`, nothing is left to the
/// driver, and the local size divides what lies before it: the kernel asks for the number of its
/// group.
PieceRange pieceRange(const NDRange& range, bool localGiven, const GroupBox& box,
                      unsigned dimension, const GroupLimits& limits, bool chosen = false);

/// The number in `range`, as if all of it had the local size of `part`, of the first group of
/// `part`, which has a local size.
std::array<std::uint64_t, 3> firstGroup(const NDRange& range, const EnqueuedRange& part);

} // namespace libsplit::runtime
