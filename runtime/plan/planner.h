// Decides what each device does in a launch: which groups it runs, which bytes it needs first,
// which bytes it writes. Pure: no OpenCL, no clocks, no state.
//
// A launch is cut along one dimension into slabs of whole work-groups, one per device with a share.
// If no byte can be written by devices on different memory nodes, nothing needs merging. Otherwise
// the shared bytes are merged afterwards (merge.h says how and when that is right), and all others
// go the ordinary way. Devices on one node share its memory, as the cores of one device do, and are
// under no such condition. Of several dimensions the caller takes one that needs no merge, and of
// those the one that needs least from elsewhere.
#pragma once

#include "analysis-pass/summary/evaluate.h"
#include "runtime/plan/directory.h"
#include "runtime/plan/merge.h"

#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace libsplit::runtime {

/// A buffer argument of the launch. Arguments may share a buffer (the same object twice,
/// sub-buffers).
struct BufferArgument {
  unsigned parameter = 0;
  std::size_t buffer = 0;   ///< index into the launch's distinct buffers
  std::uint64_t origin = 0; ///< where the argument's byte 0 lies in the buffer
};

struct LaunchRequest {
  NDRange range;
  std::vector<ArgumentValue> arguments; ///< by parameter
  std::vector<BufferArgument> buffers;
  std::size_t bufferCount = 0;
  /// What the buffers hold, or null; outlives the planning.
  Contents* contents = nullptr;
};

/// A device that may take part: its memory node, and what the analysis says of the kernel under
/// that device's macros (null: the device can't run it).
struct PlanDevice {
  NodeId node = hostNode;
  const KernelSummary* summary = nullptr;
  /// Its driver copies the rows of a strided region one by one, in microseconds each.
  bool copiesRowByRow = false;
  /// Devices with equal numbers compute the same bytes, each in a memory of its own; 0: nobody else
  /// computes the same.
  unsigned kind = 0;
};

/// What a piece does to one buffer.
struct PieceUse {
  ByteSet needs;  ///< must be valid on the node before: reads, and old bytes under uncertain writes
  ByteSet writes; ///< valid on the node alone after
  ByteSet merged; ///< may be changed, and on other nodes too: a merge follows
  /// Perhaps stored back as they were, also beside `writes`. Pieces on one node that rewrite what
  /// another writes must not run beside each other.
  ByteSet rewrites;
  /// Written too, as another piece writes them, whose they are; valid on this node as well after
  /// (overlap.h).
  ByteSet repeats{};
  bool changes() const { return !writes.empty() || !merged.empty(); }
  /// All that may be stored to, if only what was there.
  ByteSet stores() const { return unite(unite(unite(writes, merged), rewrites), repeats); }
  bool operator==(const PieceUse&) const = default;
};

struct Piece {
  std::size_t device = 0; ///< index into the devices given
  GroupBox box;
  std::vector<PieceUse> uses; ///< by buffer
  /// Where it also runs groups of others: the piece that it is without (overlap.h).
  std::shared_ptr<const Piece> own{};
  bool isBoundary = false; ///< of a larger piece, whose rest is another of its device (boundary.h)
  /// The groups that it alone is responsible for.
  const GroupBox& ownBox() const { return own ? own->box : box; }
};

/// How a launch was split: the rungs of the ladder.
enum class Rung {
  InPlace = 0,    ///< unknown or overlapping writes, but all devices work in one memory
  Exact = 1,      ///< disjoint writes, all certain
  Possible = 2,   ///< disjoint ranges that may be written; old bytes are brought in first
  Difference = 3, ///< overlapping or unknown writes; merged by comparing with the old bytes
  Atomics = 4,    ///< updates that commute; merged by their operation
};

struct LaunchPlan {
  unsigned dimension = 0;
  Rung rung = Rung::Exact;
  std::vector<Piece> pieces; ///< ascending in groups, none empty
  std::vector<Merge> merges; ///< of bytes that pieces on several nodes may change
  /// Along its dimension; one piece says nothing of where to cut.
  bool isCut() const { return pieces.size() > 1; }
};

using PlanResult = std::variant<LaunchPlan, Reason>;

/// Cuts dimension `dimension` of the launch by `groups` (one count per device, summing to the
/// dimension's groups), or says why it can't be cut so.
PlanResult planCut(const LaunchRequest& request, std::span<const PlanDevice> devices,
                   unsigned dimension, std::span<const std::uint64_t> groups);

/// One piece by itself, of a launch that needs no merges: groups [begin, end) of `dimension` on
/// `device`.
Piece planPiece(const LaunchRequest& request, std::span<const PlanDevice> devices,
                std::size_t device, unsigned dimension, std::uint64_t begin, std::uint64_t end);

/// The same of any box of groups. `asked`: by buffer, whether it is asked about; it is taken to
/// need all of the others and to write nothing there, which costs nothing to find out. Empty: all
/// are.
Piece planPiece(const LaunchRequest& request, std::span<const PlanDevice> devices,
                std::size_t device, const GroupBox& box, const std::vector<bool>& asked = {});

/// Whether one of two pieces, each planned by itself, may store back what the other writes: by
/// buffer.
bool rewriteEachOther(const std::vector<PieceUse>& a, const std::vector<PieceUse>& b);

/// Bytes that a plan would move, given who holds what now, with what it costs that they do not lie
/// together: for comparing plans. One directory per buffer.
std::uint64_t costOfMoving(const LaunchPlan& plan, std::span<const PlanDevice> devices,
                           std::span<const Directory* const> directories);

/// … of one set of bytes.
std::uint64_t costOfMoving(const ByteSet& bytes);

/// "dimension 1, rung 1; device 0 groups [0,96); …" for the log.
std::string toString(const LaunchPlan& plan);

} // namespace libsplit::runtime
