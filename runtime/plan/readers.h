// Where what the program writes to a buffer will be read, told from where the last was. Pure.
//
// A program that writes its input, launches kernels on it, and writes the next input, mostly has
// the same bytes read on the same nodes again. So the next write goes to each node for what that
// read of the last, and does not come by way of home. What nobody read goes home.
//
// Worked example: 8 bytes; home is node 1. The program writes all, node 1 reads [0,5), node 2 reads
// [3,8). Of the next write [0,5) goes to node 1 and [3,8) to node 2: [3,5) is valid on both.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "runtime/plan/directory.h"

#include <map>

namespace libsplit::runtime {

/// Of one buffer. Not thread-safe.
class Readers {
public:
  /// `node` is about to use `bytes`.
  void wanted(NodeId node, const ByteSet& bytes);
  /// The program is about to write to the buffer. Several writes in a row have the same readers.
  void programWrites();
  /// The part of `bytes` that each node gets. What nobody reads is `home`'s.
  std::map<NodeId, ByteSet> shareOut(const ByteSet& bytes, NodeId home) const;

private:
  /// A buffer that the program does not write between so many uses is not worth looking at.
  static constexpr unsigned mostUses = 256;

  std::map<NodeId, ByteSet> now_;  ///< of what was written last
  std::map<NodeId, ByteSet> last_; ///< of what was written before that
  unsigned uses_ = 0;              ///< since the program wrote
};

} // namespace libsplit::runtime
