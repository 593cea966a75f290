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
// one of the piece's `rests`, whose local size is left to the driver: it is the same rest every
// time.
//
// GPUs build a kernel once, and a local size that does not divide the NDRange costs them some short
// launches more and nothing else. There any size will do (`shapedRange`): of 4099 x 4099 work-items
// in groups of 64 x 4, 4096 x 4096 are the body, and 3 x 4096, 4096 x 3 and 3 x 3 the rests, in
// groups of 3 x 4, 64 x 3 and 3 x 3. Which size is best is measured (cost/shape_search.h).
#pragma once

#include "analysis-pass/summary/ndrange.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
  std::vector<EnqueuedRange> rests; ///< launches of their own
};

/// Work-items of a work-group by dimension, 1 in those that the NDRange lacks; all 0: the driver
/// chooses.
struct GroupShape {
  std::array<std::uint32_t, 3> local{0, 0, 0};
  bool isOpen() const { return local[0] == 0; }
  /// Work-items; 0: the driver's affair.
  std::uint64_t items() const { return std::uint64_t{local[0]} * local[1] * local[2]; }
  auto operator<=>(const GroupShape&) const = default;
};

/// "64x4", of as many dimensions as the NDRange has; "the driver's".
std::string toString(const GroupShape& shape, unsigned dimensions);

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

/// The groups `box` of `range`, of which pieces are cut in `dimension`. `range.local` is the
/// program's local size if `localGiven`, else the unit of cutting. With `chosen`, nothing is left
/// to the driver, and the local size divides what lies before it: the kernel asks for the number of
/// its group. A box that is cut in other dimensions as well, for a rehearsal, has that of pieces
/// where it can.
PieceRange pieceRange(const NDRange& range, bool localGiven, const GroupBox& box,
                      unsigned dimension, const GroupLimits& limits, bool chosen = false);

/// The groups `box` of `range`, whose local size was left open, in work-groups of `shape`, which is
/// not open. What makes no whole group in a dimension is one that is smaller there.
PieceRange shapedRange(const NDRange& range, const GroupBox& box, const GroupShape& shape);

/// The number in `range`, as if all of it had the local size of `part`, of the first group of
/// `part`, which has a local size.
std::array<std::uint64_t, 3> firstGroup(const NDRange& range, const EnqueuedRange& part);

} // namespace libsplit::runtime
