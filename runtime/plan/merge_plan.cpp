#include "runtime/plan/merge_plan.h"

#include <algorithm>
#include <map>

namespace libsplit::runtime {

namespace {

using ByNode = std::map<NodeId, ByteSet>;

void add(ByNode& sets, NodeId node, const ByteSet& bytes) {
  ByteSet& set = sets[node];
  set.uniteWith(bytes);
}

/// Bytes that are in the sets of two nodes or more.
ByteSet sharedBytes(const ByNode& sets) {
  ByteSet seen, shared;
  for (const auto& [node, bytes] : sets) {
    shared.uniteWith(intersect(seen, bytes));
    seen.uniteWith(bytes);
  }
  return shared;
}

Merge mergeOf(std::size_t buffer, const ByNode& sets, const ByteSet& shared) {
  Merge merge;
  merge.buffer = buffer;
  merge.bytes = shared;
  for (const auto& [node, bytes] : sets)
    if (ByteSet part = intersect(bytes, shared); !part.empty())
      merge.parts.push_back({node, std::move(part)});
  return merge;
}

/// Atomics of one kind.
struct Updates {
  UpdateKind kind;
  SourceLine where;
  ByNode bytes;
};

/// All that a launch does to one buffer.
struct Doings {
  ByNode reads, writes;
  std::vector<Updates> updates;
};

Doings doingsOf(std::span<const PieceEffects> pieces, std::size_t buffer) {
  Doings all;
  for (const PieceEffects& piece : pieces) {
    const BufferEffects& effects = piece.buffers[buffer];
    add(all.reads, piece.node, effects.reads);
    add(all.writes, piece.node, effects.possibleWrites);
    for (const UpdatedBytes& updated : effects.updates) {
      auto known = std::find_if(all.updates.begin(), all.updates.end(),
                                [&](const Updates& each) { return each.kind == updated.kind; });
      if (known == all.updates.end())
        known = all.updates.insert(known, {updated.kind, updated.where, {}});
      add(known->bytes, piece.node, updated.bytes);
    }
  }
  return all;
}

/// Whether some node updates bytes of `others` on another node, or bytes of `shared` on any.
bool meets(const ByNode& updates, const ByteSet& shared, const ByNode& others) {
  for (const auto& [otherNode, other] : others) {
    if (shared.intersects(other))
      return true;
    for (const auto& [node, bytes] : updates)
      if (node != otherNode && bytes.intersects(other))
        return true;
  }
  return false;
}

/// Updates commute with their like only: what else the kernel does to those bytes would see, or be
/// seen, in the middle of things.
std::optional<Reason> conflict(const Doings& all, const Updates& updates, const ByteSet& shared,
                               const BufferTraits& buffer) {
  std::string does;
  if (meets(updates.bytes, shared, all.reads))
    does = "read";
  else if (meets(updates.bytes, shared, all.writes))
    does = "written";
  for (const Updates& other : all.updates)
    if (&other != &updates && meets(updates.bytes, shared, other.bytes))
      does = "updated otherwise";
  if (does.empty())
    return std::nullopt;
  return Reason{"atomic operation on `" + buffer.name + "`, whose bytes are " + does + " as well",
                updates.where};
}

/// The elements of `width` bytes that lie in `bytes`: the last one may be cut by the buffer's end,
/// and is then none. Nothing if it is no set of elements.
std::optional<ByteSet> wholeElements(const ByteSet& bytes, std::uint32_t width,
                                     const BufferTraits& buffer) {
  if (buffer.origins % width != 0)
    return std::nullopt;
  ByteSet whole;
  for (ByteRange range : bytes.ranges()) {
    if (range.end == buffer.end)
      range.end = std::max(range.begin, range.end / width * width);
    if (range.begin % width != 0 || range.end % width != 0)
      return std::nullopt;
    if (!range.empty())
      whole.add(range);
  }
  return whole;
}

/// The largest element, up to `buffer.grain`, that no bound of `parts` cuts.
std::uint32_t grainFor(const std::vector<Merge::Part>& parts, const BufferTraits& buffer) {
  std::uint64_t bounds = buffer.grain | buffer.origins;
  for (const Merge::Part& part : parts)
    for (const ByteRange& range : part.bytes.ranges())
      bounds |= range.begin | (range.end == buffer.end ? 0 : range.end);
  return static_cast<std::uint32_t>(bounds & -bounds);
}

} // namespace

std::variant<std::vector<Merge>, Reason> planMerges(std::span<const PieceEffects> pieces,
                                                    std::span<const BufferTraits> buffers) {
  std::vector<Merge> merges;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const Doings all = doingsOf(pieces, b);
    for (const Updates& updates : all.updates) {
      const ByteSet shared = sharedBytes(updates.bytes);
      if (auto reason = conflict(all, updates, shared, buffers[b]))
        return *reason;
      auto elements = wholeElements(shared, updates.kind.width, buffers[b]);
      if (!elements)
        return Reason{"atomic operation on `" + buffers[b].name +
                          "` at addresses that are no multiple of " +
                          std::to_string(updates.kind.width),
                      updates.where};
      if (elements->empty())
        continue;
      Merge merge = mergeOf(b, updates.bytes, *elements);
      merge.update = updates.kind;
      merge.grain = updates.kind.width;
      merges.push_back(std::move(merge));
    }
    if (const ByteSet shared = sharedBytes(all.writes); !shared.empty()) {
      Merge merge = mergeOf(b, all.writes, shared);
      merge.grain = grainFor(merge.parts, buffers[b]);
      merges.push_back(std::move(merge));
    }
  }
  return merges;
}

} // namespace libsplit::runtime
