#include "runtime/plan/directory.h"

#include <algorithm>
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

std::vector<Move> Directory::bring(NodeId node, const ByteSet& wanted) {
  const Need need{node, &wanted};
  std::vector<Move> moves;
  for (NeededMove& each : bringAll({&need, 1}))
    moves.push_back(std::move(each.move));
  return moves;
}

std::vector<Directory::NeededMove> Directory::bringAll(std::span<const Need> needs, Gaps gaps) {
  std::vector<NeededMove> moves;
  const State before = valid_;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const NodeId to = needs[i].node;
    ByteSet lacking = missing(to, *needs[i].bytes);
    // The host first: what lies there leaves no device.
    for (NodeId from = 0; from < before.size() && !lacking.empty(); ++from) {
      ByteSet part = from == to ? ByteSet() : sets_.intersect(lacking, before[from]);
      if (part.empty())
        continue;
      lacking = sets_.subtract(lacking, part);
      if (gaps == Gaps::Small)
        part = sets_.fillGapsToMove(part, before[from]);
      else if (gaps == Gaps::Wanted)
        part = sets_.fillGapsToMove(part, sets_.intersect(*needs[i].bytes, before[from]));
      valid_[to] = sets_.unite(valid_[to], part);
      moves.push_back({i, {from, to, std::move(part)}});
    }
  }
  return moves;
}

std::vector<Directory::Part> Directory::sources(NodeId home, const ByteSet& wanted) const {
  std::vector<Part> parts;
  ByteSet left = wanted;
  auto takeFrom = [&](NodeId node, ByteSet part) {
    if (part.empty())
      return;
    left = sets_.subtract(left, part);
    parts.push_back({node, std::move(part)});
  };
  const ByteSet lacking = sets_.subtract(wanted, valid_[home]);
  for (NodeId node = 0; node < valid_.size(); ++node)
    if (node != home && node != hostNode)
      if (ByteSet part = sets_.intersect(sets_.intersect(left, lacking), valid_[node]);
          !part.empty())
        takeFrom(node, sets_.fillGapsToMove(part, sets_.intersect(left, valid_[node])));
  takeFrom(home, sets_.intersect(left, valid_[home]));
  if (home != hostNode)
    takeFrom(hostNode, sets_.intersect(left, valid_[hostNode]));
  return parts;
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

void Directory::leaveToOthers(NodeId node) {
  for (NodeId other = 0; other < valid_.size(); ++other)
    if (other != node)
      valid_[node] = sets_.subtract(valid_[node], valid_[other]);
}

void Directory::restore(const State& state) {
  changed();
  valid_ = state;
}

bool Directory::isKnownToBe(const State& state) const {
  return std::ranges::equal(valid_, state, SetMemo::areSame);
}

bool Directory::is(const State& state) const {
  return std::ranges::equal(valid_, state, [](const ByteSet& a, const ByteSet& b) {
    return a.isSame(b) || (a.hull() == b.hull() && a == b);
  });
}

void Directory::follow(const State& state, bool changes) {
  valid_ = state;
  if (changes)
    changed();
}

ByteSet Directory::lost(const ByteSet& wanted) const {
  ByteSet nowhere = wanted;
  for (const ByteSet& valid : valid_)
    nowhere = subtract(nowhere, valid);
  return nowhere;
}

} // namespace libsplit::runtime
