#include "runtime/plan/boundary.h"

#include <algorithm>
#include <functional>

namespace libsplit::runtime {

namespace {

constexpr std::uint64_t leastRest = 4;   // times the boundary
constexpr std::uint64_t mostGroups = 64; // of a dimension, in a boundary

/// Whether one of them changes what the other uses.
bool conflict(const Piece& a, const Piece& b) {
  auto changes = [](const Piece& one, const Piece& other) {
    for (std::size_t i = 0; i < one.uses.size(); ++i)
      for (const ByteSet* stored : {&one.uses[i].writes, &one.uses[i].rewrites})
        if (stored->intersects(other.uses[i].needs) || stored->intersects(other.uses[i].writes))
          return true;
    return false;
  };
  return changes(a, b) || changes(b, a);
}

/// Whether together they write no more than `whole` does, and need no more. It may be less: what
/// small pieces do is known more exactly.
bool makeUp(const Piece& whole, const std::vector<Piece>& parts) {
  for (std::size_t i = 0; i < whole.uses.size(); ++i) {
    ByteSet writes;
    for (const Piece& part : parts) {
      writes.uniteWith(part.uses[i].writes);
      if (!whole.uses[i].needs.contains(part.uses[i].needs))
        return false;
    }
    if (!whole.uses[i].writes.contains(writes))
      return false;
  }
  return true;
}

bool writesAny(const Piece& piece, const std::vector<ByteSet>& departing) {
  for (std::size_t b = 0; b < departing.size(); ++b)
    if (departing[b].intersects(piece.uses[b].writes))
      return true;
  return false;
}

/// One piece's parts, in the order in which they are to run; or itself.
std::vector<Piece> partsOf(const LaunchRequest& request, std::span<const PlanDevice> devices,
                           const Piece& piece, unsigned dimension,
                           const std::vector<ByteSet>& departing) {
  auto part = [&](std::uint64_t begin, std::uint64_t end, bool isBoundary) {
    Piece made = planPiece(request, devices, piece.device, dimension, begin, end);
    made.isBoundary = isBoundary;
    return made;
  };
  std::vector<bool> asked;
  for (const ByteSet& each : departing)
    asked.push_back(!each.empty());
  if (std::ranges::none_of(asked, std::identity()))
    return {piece};
  auto departs = [&](std::uint64_t group) {
    const GroupBox box = slab(request.range, dimension, group, group + 1);
    return writesAny(planPiece(request, devices, piece.device, box, asked), departing);
  };
  const std::uint64_t begin = piece.box.begin[dimension], end = piece.box.end[dimension];
  // Group by group from both ends: boundaries are thin, and one group is soon looked at.
  const std::uint64_t most = std::min((end - begin) / leastRest, mostGroups);
  std::uint64_t from = begin, to = end;
  while (from - begin <= most && departs(from))
    ++from;
  while (end - to <= most && departs(to - 1))
    --to;
  const std::uint64_t boundary = (from - begin) + (end - to);
  if (boundary == 0 || boundary > most)
    return {piece};
  std::vector<Piece> parts;
  if (from > begin)
    parts.push_back(part(begin, from, true));
  if (to < end)
    parts.push_back(part(to, end, true));
  parts.push_back(part(from, to, false));
  if (writesAny(parts.back(), departing) || !makeUp(piece, parts))
    return {piece};
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (conflict(parts[i], parts[j]))
        return {piece};
  return parts;
}

} // namespace

LaunchPlan boundariesFirst(const LaunchRequest& request, std::span<const PlanDevice> devices,
                           const LaunchPlan& plan, const Departing& departing) {
  if (!plan.merges.empty())
    return plan;
  LaunchPlan cut{plan.dimension, plan.rung, {}, {}};
  for (std::size_t p = 0; p < plan.pieces.size(); ++p)
    for (Piece& part : partsOf(request, devices, plan.pieces[p], plan.dimension, departing[p]))
      cut.pieces.push_back(std::move(part));
  return cut;
}

} // namespace libsplit::runtime
