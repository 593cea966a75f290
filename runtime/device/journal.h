// What is on its way with the bytes of a buffer, so that the directory can be put right if some of
// it fails.
//
// The directory is ahead of the devices: a launch that was planned counts as done there, so that
// the next can be planned. The journal holds, in the order of planning, what it counted in advance.
// Work that depends on what failed is skipped and changes nothing; so once all has ended, what
// succeeded and what did not says exactly which bytes are valid where.
//
// Worked example: node 1 (home) and node 2 each own a half of a buffer of 8 bytes. A launch is
// planned to write [0,4) on node 1 and [4,8) on node 2, the next to write all on node 1, for which
// [4,8) is to arrive there from node 2 by way of the host. Node 2's driver refuses its piece; the
// transfers and the second launch are skipped. The directory says: all valid on node 1. Put right
// by the journal it says what was before, with the first launch's [0,4) written on node 1; [4,8)
// still has its old bytes on node 2, and the piece that failed can be run again from them.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/plan/directory.h"

#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Used under the session's lock, as the directory is.
class Journal {
public:
  enum class Effect {
    Arrives,    ///< the bytes become valid on the node, too
    Writes,     ///< they become valid there, and nowhere else
    Overwrites, ///< the same, also where it fails after it may have begun: the program's own call
    Spoils,     ///< they become something that nobody may use
  };
  /// `before`: of the directory, before it counted this, which it has to do next. The effect has
  /// come about once all of `done` succeeded, at once if it is empty; it has come about in part if
  /// one failed and may have begun.
  void note(const Directory::State& before, Effect effect, NodeId node, ByteSet bytes,
            std::vector<CompletionPtr> done);
  /// What a launch does to the buffer; one that repeats does it each time.
  struct Changes {
    struct Change {
      Effect effect = Effect::Writes;
      NodeId node = hostNode;
      ByteSet bytes;
      std::size_t by = 0; ///< by which of its kernels
    };
    Directory::State before;
    std::vector<Change> each;
  };
  struct Ends {
    std::vector<CompletionPtr> kernels;
    /// Of what is merged of a kernel's, once that is on its way, with the kernel's number. If it
    /// gets lost the kernel's part is done again, from what it started from: so what else the
    /// kernel changed doesn't count either.
    std::vector<std::pair<std::size_t, CompletionPtr>> arrivals;
    /// Those that each launch fills (core/spares.h).
    auto lists() { return std::tie(arrivals, kernels); }
  };
  /// The same of all that it counted at once. Arrivals are added under the session's lock, too.
  void note(std::shared_ptr<const Changes> changes, std::shared_ptr<const Ends> ends);
  /// All that is not known to have succeeded.
  void collect(std::vector<CompletionPtr>& pending) const;
  /// After everything noted is over: corrects `directory`, and forgets. True if anything had
  /// failed.
  bool settle(Directory& directory);

private:
  struct Item {
    Effect effect = Effect::Arrives;
    NodeId node = hostNode;
    ByteSet bytes;
    std::vector<CompletionPtr> done;
  };
  /// What the directory counted at once, so it is remembered, or forgotten, together: the changes
  /// of a launch, or the transfers for one, which are noted one by one.
  struct Entry {
    std::shared_ptr<const Changes> changes;
    std::shared_ptr<const Ends> ends;
    Directory::State noted; ///< before all of `items`
    std::vector<Item> items;
    const Directory::State& before() const { return changes ? changes->before : noted; }
    bool succeeded() const;
    /// Calls `visit(effect, node, bytes, done)` for each in the order of planning.
    template <class Visit> void forEach(const Visit& visit) const;
  };
  void forgetDone();

  std::vector<Entry> entries_; ///< the oldest first
};

} // namespace libsplit::runtime
