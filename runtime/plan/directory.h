// Which bytes of a buffer are valid on which memory node, and what must travel. Pure, but for the
// versions' numbers.
//
// A memory node is a memory that devices use in place: node 0 is the host's, with every CPU device
// that can work in it; each GPU is one. A write on a node makes its bytes invalid on all others;
// nothing moves before somebody needs it; what moves is only what is missing, and the small gaps in
// it that the source can fill: an interior of a grid travels in one copy instead of one per row,
// and every second point of a row with those between.
//
// Worked example: a 5-point stencil over 8 rows, split 4:4 over nodes 1 (home) and 2. The input is
// valid on 1. Node 2 wants rows 3..8 and gets them from there, so that rows 3..8 are now valid on 1
// and 2. Each node then writes its four rows of the output. When input and output change places,
// node 1 lacks row 4 only and node 2 row 3 only: the halo.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "runtime/plan/set_memo.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace libsplit::runtime {

using NodeId = unsigned;
inline constexpr NodeId hostNode = 0;

/// Copy `bytes` of a buffer from one node to another.
struct Move {
  NodeId from = hostNode;
  NodeId to = hostNode;
  ByteSet bytes;
  bool operator==(const Move&) const = default;
};

class Directory {
public:
  /// All `size` bytes valid on `home` alone.
  Directory(std::size_t nodes, NodeId home, std::uint64_t size);

  const ByteSet& valid(NodeId node) const { return valid_[node]; }
  bool isValid(NodeId node, const ByteSet& bytes) const { return valid_[node].contains(bytes); }
  /// Bytes of `wanted` that `node` lacks.
  ByteSet missing(NodeId node, const ByteSet& wanted) const {
    return sets_.subtract(wanted, valid_[node]);
  }

  /// What must be copied before `node` may use `wanted`; counts as valid there from now on.
  std::vector<Move> bring(NodeId node, const ByteSet& wanted);
  struct Need {
    NodeId node = hostNode;
    const ByteSet* bytes = nullptr;
  };
  struct NeededMove {
    std::size_t need = 0; ///< that it is for
    Move move;
  };
  /// The gaps in what travels that go along, as far as its source can fill them.
  enum class Gaps {
    Small,  ///< those that are small
    Wanted, ///< of these what is wanted too, though it is there
    None    ///< also where that would cost nothing
  };
  /// The same for all `needs` at once. Everything may leave before anything has arrived: no move
  /// takes what another of them brings to where it comes from.
  std::vector<NeededMove> bringAll(std::span<const Need> needs, Gaps gaps = Gaps::Small);
  /// Some of its bytes that a node has.
  struct Part {
    NodeId node = hostNode;
    ByteSet bytes;
    bool operator==(const Part&) const = default;
  };
  /// Where the program's own read takes which bytes from, at the same time: from `home`, whose
  /// bytes travel least, what home lacks from other devices, with the small gaps that they can
  /// fill, and what only the host's memory has from there.
  std::vector<Part> sources(NodeId home, const ByteSet& wanted) const;
  /// `node` overwrites `bytes`.
  void wrote(NodeId node, const ByteSet& bytes);
  /// The bytes may have changed in a way that no `wrote` will tell of.
  void changed();
  /// Another number after each change of the bytes; no two directories of the process ever have the
  /// same one.
  std::uint64_t version() const { return version_; }
  /// `node` was found to hold what is valid elsewhere in `bytes`.
  void confirm(NodeId node, const ByteSet& bytes) {
    valid_[node] = sets_.unite(valid_[node], bytes);
  }
  /// What `node` has in `bytes` is neither old nor new any more.
  void spoiled(NodeId node, const ByteSet& bytes);
  /// What others have as well comes from `node` no more: it may be out of reach.
  void leaveToOthers(NodeId node);

  /// What is valid where, by node; to go back to.
  using State = std::vector<ByteSet>;
  const State& state() const { return valid_; }
  void restore(const State& state);
  /// Whether that is what it says, as far as can be told in no time.
  bool isKnownToBe(const State& state) const;
  /// Whether that is what it says. Looks at all of it, if it must.
  bool is(const State& state) const;
  /// Says the same from now on, having been told before what that came of: copies, or `changes`.
  void follow(const State& state, bool changes);
  /// Bytes of `wanted` that are valid nowhere: a device took them with it when it failed.
  ByteSet lost(const ByteSet& wanted) const;

private:
  State valid_;
  mutable SetMemo sets_;
  std::uint64_t version_ = 0;
};

} // namespace libsplit::runtime
