#include "runtime/plan/readers.h"

#include <utility>

namespace libsplit::runtime {

void Readers::wanted(NodeId node, const ByteSet& bytes) {
  if (uses_ >= mostUses)
    return;
  ++uses_;
  ByteSet& known = now_[node];
  if (!known.contains(bytes))
    known.uniteWith(bytes);
}

void Readers::programWrites() {
  if (uses_ == 0)
    return;
  last_ = std::exchange(now_, {});
  if (uses_ >= mostUses)
    last_.clear();
  uses_ = 0;
}

std::map<NodeId, ByteSet> Readers::shareOut(const ByteSet& bytes, NodeId home) const {
  std::map<NodeId, ByteSet> parts;
  ByteSet left = bytes;
  for (const auto& [node, read] : last_)
    if (ByteSet part = intersect(bytes, read); !part.empty()) {
      left = subtract(left, part);
      parts[node] = std::move(part);
    }
  if (!left.empty())
    parts[home].uniteWith(left);
  return parts;
}

} // namespace libsplit::runtime
