// Deeper halos: a device computes some of its neighbours' work-groups as well, so that iterations
// exchange less often. Pure.
//
// Where launches follow each other, each of which reads a little beyond what its device wrote in
// the one before, devices exchange halos at every launch, and each exchange costs a round of copies
// and waits, however little it brings. A device that also runs the next `depth` groups of its
// neighbours, for which it takes that much more of their halo once, has its own halo for the next
// launch without asking anybody; there it runs some groups less beyond its own, and so on, until
// nothing is left and they exchange again.
//
// What it takes to know that is where bytes are valid, nothing of the program's cycle. A piece that
// lacks something that its neighbour has, and has to wait for it anyway, takes `depth` groups at
// that end; so does the neighbour at his, if he will want something as well, since two that
// exchange at different launches wait twice as often. At an end where it lacks nothing a piece
// takes as many groups, at most `depth`, as find all that they need on its node already.
//
// What the extra groups write is what the neighbour's own groups write there: it repeats
// (PieceUse::repeats), and is valid on both nodes afterwards. For that
//
//   * the kernel must be a function of what it reads: it reads nothing of what it writes, and
//     updates nothing; its work-groups do not depend on the order of their work-items;
//   * both devices must compute the same bytes: equal ones, of the same driver (PlanDevice::kind),
//     with memories of their own;
//   * nobody else may write these bytes: where several groups write the same ones, if only each
//     some of them, either all of these are run twice or none.
//
// Bytes that may be written, or not, are no exception: they have to be there before.
//
// And it must be of use: where some piece wants what none of its further groups writes (on a torus
// the first row needs the last; a device of another kind has what is next to it), devices exchange
// at every launch anyway, and better hide that behind the computing (boundary.h).
//
// What a launch reads of one buffer it mostly reads of another of the same size later, when they
// change places. So where it exchanges, a piece also gets what its extra groups read in one buffer
// of all others that are written and as large, where nobody writes that in this launch: the edges
// of a grid, which no kernel writes, are there once and for all.
//
// Worked example: a stencil over rows of two buffers that change places, a work-group a row, nodes
// 1 and 2 with 8 rows each, depth 2. Node 1 says:
//
//   launch 1  lacks row 8 of A, so it takes rows 8 .. 10 and runs groups 0 .. 9: B is there up to 9
//   launch 2  needs B up to row 8; group 8 finds row 9 and is run too, group 9 lacks row 10:
//             A is there up to 8
//   launch 3  needs A up to row 8, and runs its own groups alone
//   launch 4  lacks row 8 of B, as launch 1 did of A
//
// Three launches, one exchange, of three rows each way.
#pragma once

#include "runtime/plan/planner.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// How far pieces may go, and how far they go. Those of a kernel's launches that came last are
/// remembered: a program that repeats its launches comes to the very same plans. Not thread-safe.
class Overlaps {
public:
  /// `plan` with its pieces as far over their neighbours as that is possible and of use, given what
  /// is valid where; `plan` itself, if no piece is. `request`: of a launch whose regions do not
  /// depend on what buffers hold. One directory per buffer.
  std::shared_ptr<const LaunchPlan> extend(const LaunchRequest& request,
                                           std::span<const PlanDevice> devices,
                                           const std::shared_ptr<const LaunchPlan>& plan,
                                           std::uint64_t depth,
                                           std::span<Directory* const> directories);

private:
  static constexpr std::size_t mostPlans = 8;   ///< whole ones
  static constexpr std::size_t mostStates = 64; ///< of one plan

  /// What a piece does by the first groups beyond one of its ends, by number of groups, from none.
  struct End {
    struct Groups {
      std::vector<PieceUse> uses; ///< by buffer; reads and writes
      bool isSound = true;        ///< nobody else writes what they write
    };
    std::vector<Groups> first;
    /// Where the launch's inputs and outputs change places, the piece reads what its neighbour
    /// wrote.
    bool wants = false;
  };
  using Ends = std::array<End, 2>;
  /// How far a piece goes at an end.
  struct Reach {
    std::uint64_t groups = 0;
    bool exchanges = false; ///< and waits for its neighbour, so that more may be brought
    bool operator==(const Reach&) const = default;
  };
  using Extent = std::vector<std::array<Reach, 2>>; ///< by piece
  struct Known {
    std::vector<Directory::State> before; ///< by buffer
    std::shared_ptr<const LaunchPlan> extended;
  };
  /// Of one whole plan.
  struct Entry {
    std::shared_ptr<const LaunchPlan> whole;
    std::uint64_t depth = 0;
    std::vector<Ends> ends; ///< by piece; empty: none can go further
    std::vector<std::pair<Extent, std::shared_ptr<const LaunchPlan>>> extended;
    std::vector<Known> known; ///< a ring
    std::size_t oldest = 0;
  };

  static std::vector<Ends> endsOf(const LaunchRequest& request, std::span<const PlanDevice> devices,
                                  const LaunchPlan& plan, std::uint64_t depth);
  static bool exchangeAnyway(const LaunchRequest& request, const LaunchPlan& plan,
                             const std::vector<Ends>& all);
  static Extent extentOf(const Entry& entry, std::span<const PlanDevice> devices,
                         std::span<Directory* const> directories);
  static std::shared_ptr<const LaunchPlan> make(const LaunchRequest& request, const Entry& entry,
                                                const Extent& extent);
  Entry& entryOf(const LaunchRequest& request, std::span<const PlanDevice> devices,
                 const std::shared_ptr<const LaunchPlan>& plan, std::uint64_t depth);

  std::vector<Entry> entries_; ///< the one used last comes last
};

} // namespace libsplit::runtime
