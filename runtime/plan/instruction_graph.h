// A launch as instructions with explicit dependencies: what its plan and the directories come to.
// Pure.
//
// The instructions are the copies of what pieces lack, and the pieces' kernels. A copy goes out of
// one memory and into another; all copies leave before anything arrives, and wait for nothing in
// the graph. A kernel waits for those copies alone whose bytes it uses or overwrites on its node:
// until they have arrived, or, where it overwrites what they take elsewhere, until they have left.
// So of a device's pieces the one in the middle of a grid runs while the rows beside the others
// travel. What the launch has to wait for of earlier ones is not in the graph, since it is another
// each time (device/accesses.h).
//
// To find that out takes a dozen operations on sets of bytes for each piece and buffer. A program
// that repeats its launches finds its bytes where they were one or two launches before, or a dozen
// where pieces overlap (overlap.h); so a graph says what was valid where before it and what is
// after, and is used again where that holds.
//
// Worked example: a stencil over rows of two buffers that change places, halves on nodes 1 and 2,
// each piece cut in two so that its boundary comes first.
//
//   copy 0: buffer 0 from node 2 to 1, [512,640)
//   copy 1: buffer 0 from node 1 to 2, [384,512)
//   kernel 0: piece 0 on node 1, after copy 0
//   kernel 1: piece 1 on node 1
//   kernel 2: piece 2 on node 2, after copy 1
//   kernel 3: piece 3 on node 2
#pragma once

#include "runtime/plan/planner.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace libsplit::runtime {

struct InstructionGraph {
  struct Copy {
    std::size_t buffer = 0;
    std::size_t piece = 0; ///< that it is for
    Move move;
  };
  struct Kernel {
    NodeId node = hostNode;
    std::vector<std::size_t> arrivals;   ///< copies that must have arrived
    std::vector<std::size_t> departures; ///< copies that must have left
    std::vector<ByteSet> stores;         ///< by buffer: all that it may store to
    bool waitsFor(std::size_t copy) const;
  };
  /// Of one buffer.
  struct States {
    Directory::State before;
    Directory::State arrived; ///< after the copies
    Directory::State after;   ///< after the kernels
  };

  std::shared_ptr<const LaunchPlan> plan;
  std::vector<Copy> copies;
  std::vector<Kernel> kernels; ///< one for each of the plan's pieces
  /// Of the kernels, in which they are best enqueued, one after the other: each device's first
  /// before any other's second, so that all are at work as soon as may be.
  std::vector<std::size_t> order;
  std::vector<States> states; ///< by buffer

  bool changes(std::size_t buffer) const; ///< some kernel may
};

/// `nodes`: by device. `directories`: by buffer; they say afterwards what is valid after the graph.
InstructionGraph lower(std::shared_ptr<const LaunchPlan> plan, std::span<const NodeId> nodes,
                       std::span<Directory* const> directories);

/// As in the example above.
std::string toString(const InstructionGraph& graph);

/// Those that a kernel's launches came to last. Not thread-safe.
class GraphMemo {
public:
  static constexpr std::size_t capacity = 64;

  /// One of this plan that begins with what the directories say; null if there is none.
  std::shared_ptr<const InstructionGraph> find(const LaunchPlan& plan,
                                               std::span<Directory* const> directories) const;
  void keep(std::shared_ptr<const InstructionGraph> graph);

private:
  std::array<std::shared_ptr<const InstructionGraph>, capacity> graphs_; ///< a ring
  std::size_t oldest_ = 0;
};

} // namespace libsplit::runtime
