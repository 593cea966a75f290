// The work that is under way on a buffer's copies, by bytes: who must wait for whom.
//
// Two pieces of work on one memory node may run beside each other unless one writes what the other
// reads or writes. So a device may compute on one part of a buffer while another part leaves it or
// arrives, which is what hides an exchange behind the computing.
//
// On other nodes there are other copies, and who writes here need not wait for who reads there; but
// for one thing. Work that may have to be done again, should a device fail, must find what it
// started from. So whoever changes bytes waits for such work on all nodes that uses them. Who only
// brings them as they are elsewhere does not: whoever changed them has waited, or computed the same
// once more, for a halo.
//
// A program that keeps its queue filled has many launches under way that use the same bytes. Each
// piece waits for the one before on its node; so the last that writes all that an earlier one uses
// stands for that, and what there is to look through does not grow with the queue.
//
// Worked example: a node computes rows 0..4 of a grid from rows 0..5 of another. Its halo, row 5 of
// the former, may arrive meanwhile: it is written by nobody else. Row 5 of the latter may not: it
// is read until the computing is over.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "runtime/core/completion.h"
#include "runtime/plan/directory.h"
#include "runtime/plan/set_memo.h"

#include <cstddef>
#include <vector>

namespace libsplit::runtime {

/// Work on one node's copy of a buffer. A kernel that the copy is an argument of may use none of
/// its bytes.
struct BufferAccess {
  NodeId node = hostNode;
  ByteSet reads, writes;
  CompletionPtr done;
  bool mayBeRepeated = true; ///< false: a copy between nodes, which nobody does again
};

/// Those of one buffer. Not thread-safe.
class Accesses {
public:
  /// Forgets what is known to be over and done, so that nobody is told to wait for it.
  void forgetDone();
  /// What must be over before bytes are used so on `node`.
  void collect(NodeId node, const ByteSet& reads, const ByteSet& writes,
               std::vector<CompletionPtr>& after) const;
  /// … before `bytes`, as they are on another node, arrive on `node`.
  void collectForArrival(NodeId node, const ByteSet& bytes,
                         std::vector<CompletionPtr>& after) const;
  /// Whether some of `bytes` are on their way to `node`, by a copy. Asks the driver.
  bool arrives(NodeId node, const ByteSet& bytes) const;
  /// What must be over before the copy on `node` goes.
  void collectAll(NodeId node, std::vector<CompletionPtr>& after) const;
  void add(BufferAccess access);
  /// The same of work that waits for all that `collect` told it of, of which the first `earlier`
  /// are left. Those of them that only use what it writes are forgotten: who would have to wait for
  /// them has to wait for it. `earlier` says afterwards how many are left.
  void addBehind(BufferAccess access, std::size_t& earlier);
  std::size_t count() const { return accesses_.size(); }
  /// Nothing is under way, as far as is known, that a reader of `bytes`, or who also `writes` them,
  /// would have to wait for.
  bool isIdle(NodeId node, const ByteSet& bytes, bool writes) const;
  /// Of work that failed, too: who waits for it fails as well, and now nobody shall any more.
  void forget() { accesses_.clear(); }

private:
  bool conflicts(const BufferAccess& before, const ByteSet& reads, const ByteSet& writes) const;
  bool usesAny(const BufferAccess& access, const ByteSet& bytes) const;

  std::vector<BufferAccess> accesses_; ///< not known to have succeeded
  mutable SetMemo sets_;
};

} // namespace libsplit::runtime
