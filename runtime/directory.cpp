#include "runtime/directory.h"

#include <atomic>
#include <utility>

namespace libsplit::runtime {

Directory::Directory(std::size_t nodes, NodeId home, std::uint64_t size) : valid_(nodes) {
  if (size > 0)
    valid_[home] = ByteSet(0, size);
  changed();
}

void Directory::changed() {
  static std::atomic<std::uint64_t> versions{0};
  version_ = ++versions;
}

void Directory::bringToHost(const ByteSet& wanted, std::vector<Move>& moves, bool exactly) {
  ByteSet lacking = missing(hostNode, wanted);
  for (NodeId source = 0; source < valid_.size() && !lacking.empty(); ++source) {
    if (source == hostNode)
      continue;
    ByteSet part = sets_.intersect(lacking, valid_[source]);
    if (part.empty())
      continue;
    lacking = sets_.subtract(lacking, part);
    if (!exactly)
      part = sets_.fillGaps(part, valid_[source]);
    valid_[hostNode] = sets_.unite(valid_[hostNode], part);
    moves.push_back({source, hostNode, std::move(part)});
  }
}

std::vector<Move> Directory::bring(NodeId node, const ByteSet& wanted, bool exactly) {
  std::vector<Move> moves;
  ByteSet lacking = missing(node, wanted);
  if (lacking.empty())
    return moves;
  bringToHost(lacking, moves, exactly);
  if (node != hostNode) {
    if (!exactly)
      lacking = sets_.fillGaps(lacking, valid_[hostNode]);
    valid_[node] = sets_.unite(valid_[node], lacking);
    moves.push_back({hostNode, node, std::move(lacking)});
  }
  return moves;
}

std::vector<Directory::NeededMove> Directory::bringAll(std::span<const Need> needs, bool exactly) {
  std::vector<NeededMove> moves;
  auto append = [&](std::size_t need, std::vector<Move>&& made) {
    for (Move& each : made)
      moves.push_back({need, std::move(each)});
  };
  for (std::size_t i = 0; i < needs.size(); ++i)
    append(i, bring(hostNode, missing(needs[i].node, *needs[i].bytes), exactly));
  for (std::size_t i = 0; i < needs.size(); ++i)
    append(i, bring(needs[i].node, *needs[i].bytes, exactly));
  return moves;
}

void Directory::wrote(NodeId node, const ByteSet& bytes) {
  changed();
  for (NodeId other = 0; other < valid_.size(); ++other)
    valid_[other] =
        other == node ? sets_.unite(valid_[other], bytes) : sets_.subtract(valid_[other], bytes);
}

void Directory::spoiled(NodeId node, const ByteSet& bytes) {
  changed();
  valid_[node] = sets_.subtract(valid_[node], bytes);
}

void Directory::restore(const State& state) {
  changed();
  valid_ = state;
}

ByteSet Directory::lost(const ByteSet& wanted) const {
  ByteSet nowhere = wanted;
  for (const ByteSet& valid : valid_)
    nowhere = subtract(nowhere, valid);
  return nowhere;
}

} // namespace libsplit::runtime
