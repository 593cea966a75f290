#include "runtime/plan/boundary.h"

#include <algorithm>
#include <optional>

namespace libsplit::runtime {

namespace {

/// The least of [begin, end) for which `holds`, which stays so once it is; `end` if there is none.
template <class Holds>
std::uint64_t firstThat(std::uint64_t begin, std::uint64_t end, const Holds& holds) {
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    if (holds(middle))
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

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

/// Whether together they write what `whole` does, and need nothing that it does not.
bool makeUp(const Piece& whole, const std::vector<Piece>& parts) {
  for (std::size_t i = 0; i < whole.uses.size(); ++i) {
    ByteSet writes;
    for (const Piece& part : parts) {
      writes = unite(writes, part.uses[i].writes);
      if (!whole.uses[i].needs.contains(part.uses[i].needs))
        return false;
    }
    if (!(writes == whole.uses[i].writes))
      return false;
  }
  return true;
}

/// One piece's parts, in the order in which they are to run; or itself.
std::vector<Piece> partsOf(const LaunchRequest& request, std::span<const PlanDevice> devices,
                           const Piece& piece, unsigned dimension,
                           const std::vector<ByteSet>& departing) {
  constexpr std::uint64_t leastRest = 4; // times the boundary
  auto part = [&](std::uint64_t begin, std::uint64_t end) {
    return planPiece(request, devices, piece.device, dimension, begin, end);
  };
  auto departs = [&](std::uint64_t begin, std::uint64_t end) {
    const Piece groups = part(begin, end);
    for (std::size_t b = 0; b < departing.size(); ++b)
      if (departing[b].intersects(groups.uses[b].writes))
        return true;
    return false;
  };
  const std::uint64_t begin = piece.box.begin[dimension], end = piece.box.end[dimension];
  const std::uint64_t middle = begin + (end - begin) / 2;
  if (end - begin < leastRest || departs(middle, middle + 1))
    return {piece};
  // The rest is what lies around the middle and departs nowhere.
  const std::uint64_t from =
      firstThat(begin, middle, [&](std::uint64_t group) { return !departs(group, middle); });
  const std::uint64_t to =
      firstThat(middle + 1, end, [&](std::uint64_t group) { return departs(middle, group + 1); });
  const std::uint64_t boundary = (from - begin) + (end - to);
  if (boundary == 0 || boundary > (end - begin) / leastRest)
    return {piece};
  std::vector<Piece> parts;
  if (from > begin)
    parts.push_back(part(begin, from));
  if (to < end)
    parts.push_back(part(to, end));
  parts.push_back(part(from, to));
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (conflict(parts[i], parts[j]))
        return {piece};
  if (!makeUp(piece, parts))
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
