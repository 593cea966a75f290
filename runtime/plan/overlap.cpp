#include "runtime/plan/overlap.h"

#include <algorithm>
#include <set>

namespace libsplit::runtime {

namespace {

/// Whether what a work-group writes follows from what it reads, and from nothing that it or another
/// writes.
bool isFunction(const LaunchRequest& request, const KernelSummary& summary) {
  if (summary.dependsOnOrder)
    return false;
  std::vector<bool> reads(request.bufferCount), writes(request.bufferCount);
  bool loads = false;
  for (const Access& access : summary.accesses) {
    if (access.effect != Effect::Read && access.effect != Effect::Write)
      return false;
    eachLoad(access, [&](const Expr&) { loads = true; });
    for (const BufferArgument& argument : request.buffers)
      if (argument.parameter == access.parameter)
        (access.effect == Effect::Read ? reads : writes)[argument.buffer] = true;
  }
  for (const BufferArgument& argument : request.buffers)
    if (summary.parameters[argument.parameter].kind == ParameterKind::Image ||
        (reads[argument.buffer] && writes[argument.buffer]))
      return false;
  return !loads;
}

/// Whether pieces of the plan may do more than is theirs.
bool mayOverlap(const LaunchRequest& request, std::span<const PlanDevice> devices,
                const LaunchPlan& plan) {
  if (!plan.isCut() || !plan.merges.empty() ||
      (plan.rung != Rung::Exact && plan.rung != Rung::Possible))
    return false;
  std::set<NodeId> nodes;
  for (const Piece& piece : plan.pieces)
    if (piece.own || !nodes.insert(devices[piece.device].node).second ||
        !isFunction(request, *devices[piece.device].summary))
      return false;
  return true;
}

/// Whether what is written as `uses` say is written by a piece that does as `other` says.
bool writesAlike(const std::vector<PieceUse>& uses, const std::vector<PieceUse>& other) {
  for (std::size_t b = 0; b < uses.size(); ++b)
    if (uses[b].writes.intersects(other[b].writes))
      return true;
  return false;
}

/// Whether nobody writes what groups [begin, end) do, as `uses` say, but these groups.
bool areAlone(const LaunchRequest& request, std::span<const PlanDevice> devices,
              const LaunchPlan& plan, std::uint64_t begin, std::uint64_t end,
              const std::vector<PieceUse>& uses) {
  const unsigned d = plan.dimension;
  for (const Piece& piece : plan.pieces) {
    const std::uint64_t first = piece.box.begin[d], last = piece.box.end[d];
    if (last <= begin || end <= first) {
      if (writesAlike(uses, piece.uses))
        return false;
      continue;
    }
    const std::array<std::array<std::uint64_t, 2>, 2> rest{{{first, begin}, {end, last}}};
    for (const auto& [from, to] : rest)
      if (from < to &&
          writesAlike(uses, planPiece(request, devices, piece.device, d, from, to).uses))
        return false;
  }
  return true;
}

bool areValid(const std::vector<PieceUse>& uses, NodeId node,
              std::span<Directory* const> directories) {
  for (std::size_t b = 0; b < uses.size(); ++b)
    if (!directories[b]->isValid(node, uses[b].needs))
      return false;
  return true;
}

/// Whether `node` lacks something of what `uses` need that `other` has.
bool lacksOf(const std::vector<PieceUse>& uses, NodeId node, NodeId other,
             std::span<Directory* const> directories) {
  for (std::size_t b = 0; b < uses.size(); ++b)
    if (const ByteSet missing = directories[b]->missing(node, uses[b].needs);
        missing.intersects(directories[b]->valid(other)))
      return true;
  return false;
}

/// Calls `visit(buffer, read)` for each two buffers of one size: `read` is what `uses` need of the
/// other, as if it were that buffer.
template <class Visit>
void forAlike(const LaunchRequest& request, const std::vector<PieceUse>& uses, const Visit& visit) {
  for (const BufferArgument& output : request.buffers)
    for (const BufferArgument& input : request.buffers) {
      const std::uint64_t size = request.arguments[output.parameter].bufferSize;
      if (input.buffer == output.buffer || request.arguments[input.parameter].bufferSize != size)
        continue;
      const ByteSet read =
          intersect(uses[input.buffer].needs, ByteSet(input.origin, input.origin + size));
      visit(output.buffer, shift(read, output.origin - input.origin));
    }
}

/// Whether one who does as `uses` say would read what `other` writes, if it were in another buffer;
/// but for what it writes `itself`, where that is known.
bool wantsOf(const LaunchRequest& request, const std::vector<PieceUse>& uses,
             const std::vector<PieceUse>& other, const std::vector<ByteSet>& itself = {}) {
  bool wants = false;
  forAlike(request, uses, [&](std::size_t buffer, const ByteSet& read) {
    const ByteSet theirs = intersect(read, other[buffer].writes);
    wants = wants || !(itself.empty() ? theirs : subtract(theirs, itself[buffer])).empty();
  });
  return wants;
}

/// What `uses` read in one buffer, in others that are written and as large, where nobody writes it.
void addAlike(const LaunchRequest& request, const LaunchPlan& plan,
              const std::vector<PieceUse>& uses, std::vector<PieceUse>& to) {
  forAlike(request, uses, [&](std::size_t buffer, const ByteSet& read) {
    ByteSet written;
    for (const Piece& piece : plan.pieces)
      written.uniteWith(piece.uses[buffer].writes);
    if (!written.empty())
      to[buffer].needs = unite(to[buffer].needs, subtract(read, written));
  });
}

} // namespace

std::vector<Overlaps::Ends> Overlaps::endsOf(const LaunchRequest& request,
                                             std::span<const PlanDevice> devices,
                                             const LaunchPlan& plan, std::uint64_t depth) {
  if (!mayOverlap(request, devices, plan))
    return {};
  const unsigned d = plan.dimension;
  std::vector<Ends> all;
  bool isAny = false;
  for (std::size_t p = 0; p < plan.pieces.size(); ++p) {
    const Piece& piece = plan.pieces[p];
    const unsigned kind = devices[piece.device].kind;
    // Whole pieces are passed as long as their devices are of its kind.
    const auto isAlike = [&](const Piece& other) {
      return kind != 0 && devices[other.device].kind == kind;
    };
    Ends& ends = all.emplace_back();
    for (const bool after : {false, true}) {
      std::uint64_t room = 0;
      for (std::size_t n = p; after ? ++n < plan.pieces.size() : n-- > 0;) {
        const Piece& next = plan.pieces[n];
        if (!isAlike(next))
          break;
        room += next.box.end[d] - next.box.begin[d];
      }
      if (room > 0)
        ends[after ? 1 : 0].wants =
            wantsOf(request, piece.uses, plan.pieces[after ? p + 1 : p - 1].uses);
      std::vector<End::Groups>& first = ends[after ? 1 : 0].first;
      first.push_back({std::vector<PieceUse>(request.bufferCount), true});
      for (std::uint64_t count = 1; count <= std::min(depth, room); ++count) {
        const std::uint64_t begin = after ? piece.box.end[d] : piece.box.begin[d] - count;
        const std::uint64_t end = after ? piece.box.end[d] + count : piece.box.begin[d];
        const std::uint64_t group = after ? end - 1 : begin;
        End::Groups groups = first.back();
        const Piece more = planPiece(request, devices, piece.device, d, group, group + 1);
        for (std::size_t b = 0; b < request.bufferCount; ++b) {
          groups.uses[b].needs = unite(groups.uses[b].needs, more.uses[b].needs);
          groups.uses[b].writes = unite(groups.uses[b].writes, more.uses[b].writes);
        }
        groups.isSound = areAlone(request, devices, plan, begin, end, groups.uses);
        isAny = isAny || groups.isSound;
        first.push_back(std::move(groups));
      }
    }
  }
  return isAny && !exchangeAnyway(request, plan, all) ? all : std::vector<Ends>();
}

/// Whether a piece wants something of another, where inputs and outputs change places, that none of
/// its further groups writes.
bool Overlaps::exchangeAnyway(const LaunchRequest& request, const LaunchPlan& plan,
                              const std::vector<Ends>& all) {
  for (std::size_t p = 0; p < plan.pieces.size(); ++p) {
    std::vector<ByteSet> itself(request.bufferCount);
    for (const End& end : all[p]) {
      const auto furthest =
          std::ranges::find_if(end.first.rbegin(), end.first.rend(), &End::Groups::isSound);
      for (std::size_t b = 0; b < request.bufferCount; ++b)
        itself[b].uniteWith(furthest->uses[b].writes);
    }
    for (std::size_t n = 0; n < plan.pieces.size(); ++n)
      if (n != p && wantsOf(request, plan.pieces[p].uses, plan.pieces[n].uses, itself))
        return true;
  }
  return false;
}

Overlaps::Extent Overlaps::extentOf(const Entry& entry, std::span<const PlanDevice> devices,
                                    std::span<Directory* const> directories) {
  const std::vector<Piece>& pieces = entry.whole->pieces;
  Extent extent(pieces.size());
  const auto nodeOf = [&](std::size_t p) { return devices[pieces[p].device].node; };
  const auto canGo = [&](std::size_t p, std::size_t end) {
    return entry.ends[p][end].first.size() > 1;
  };
  const auto lacks = [&](std::size_t p, std::size_t end) {
    const std::size_t neighbour = end == 0 ? p - 1 : p + 1;
    return canGo(p, end) && lacksOf(pieces[p].uses, nodeOf(p), nodeOf(neighbour), directories);
  };
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    for (const std::size_t end : {0, 1}) {
      if (!canGo(p, end))
        continue;
      const bool exchanges =
          lacks(p, end) || (entry.ends[p][end].wants && lacks(end == 0 ? p - 1 : p + 1, 1 - end));
      const std::vector<End::Groups>& first = entry.ends[p][end].first;
      Reach& reach = extent[p][end];
      for (reach.groups = first.size() - 1; reach.groups > 0; --reach.groups)
        if (first[reach.groups].isSound &&
            (exchanges || areValid(first[reach.groups].uses, nodeOf(p), directories)))
          break;
      reach.exchanges = exchanges && reach.groups > 0;
    }
  }
  return extent;
}

std::shared_ptr<const LaunchPlan> Overlaps::make(const LaunchRequest& request, const Entry& entry,
                                                 const Extent& extent) {
  const LaunchPlan& whole = *entry.whole;
  if (extent == Extent(extent.size()))
    return entry.whole;
  auto made = std::make_shared<LaunchPlan>(whole);
  for (std::size_t p = 0; p < extent.size(); ++p) {
    const auto& [before, after] = extent[p];
    if (before.groups + after.groups == 0)
      continue;
    Piece& piece = made->pieces[p];
    piece.own = std::shared_ptr<const Piece>(entry.whole, &whole.pieces[p]);
    piece.box.begin[whole.dimension] -= before.groups;
    piece.box.end[whole.dimension] += after.groups;
    for (const std::size_t end : {0, 1}) {
      const std::vector<PieceUse>& uses = entry.ends[p][end].first[extent[p][end].groups].uses;
      for (std::size_t b = 0; b < uses.size(); ++b) {
        PieceUse& use = piece.uses[b];
        use.needs = unite(use.needs, uses[b].needs);
        use.repeats = unite(use.repeats, uses[b].writes);
      }
      if (extent[p][end].exchanges)
        addAlike(request, whole, uses, piece.uses);
    }
  }
  return made;
}

Overlaps::Entry& Overlaps::entryOf(const LaunchRequest& request,
                                   std::span<const PlanDevice> devices,
                                   const std::shared_ptr<const LaunchPlan>& plan,
                                   std::uint64_t depth) {
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& each) { return each.whole == plan && each.depth == depth; });
  if (found != entries_.end()) {
    std::rotate(found, found + 1, entries_.end());
    return entries_.back();
  }
  if (entries_.size() == mostPlans)
    entries_.erase(entries_.begin());
  Entry& entry = entries_.emplace_back();
  entry.whole = plan;
  entry.depth = depth;
  entry.ends = endsOf(request, devices, *plan, depth);
  return entry;
}

std::shared_ptr<const LaunchPlan> Overlaps::extend(const LaunchRequest& request,
                                                   std::span<const PlanDevice> devices,
                                                   const std::shared_ptr<const LaunchPlan>& plan,
                                                   std::uint64_t depth,
                                                   std::span<Directory* const> directories) {
  Entry& entry = entryOf(request, devices, plan, depth);
  if (entry.ends.empty())
    return plan;
  for (const auto same : {&Directory::isKnownToBe, &Directory::is})
    for (const Known& each : entry.known)
      if (std::ranges::equal(directories, each.before,
                             [&](const Directory* directory, const Directory::State& state) {
                               return (directory->*same)(state);
                             }))
        return each.extended;
  const Extent extent = extentOf(entry, devices, directories);
  const auto made = std::ranges::find(entry.extended, extent,
                                      &std::pair<Extent, std::shared_ptr<const LaunchPlan>>::first);
  Known known;
  for (const Directory* directory : directories)
    known.before.push_back(directory->state());
  known.extended = made != entry.extended.end() ? made->second : make(request, entry, extent);
  if (made == entry.extended.end()) {
    if (entry.extended.size() == mostStates)
      entry.extended.erase(entry.extended.begin());
    entry.extended.emplace_back(extent, known.extended);
  }
  if (entry.known.size() < mostStates) {
    entry.known.push_back(known);
  } else {
    entry.known[entry.oldest] = known;
    entry.oldest = (entry.oldest + 1) % mostStates;
  }
  return known.extended;
}

} // namespace libsplit::runtime
