#include "runtime/planner.h"

#include <map>
#include <optional>
#include <sstream>

namespace libsplit::runtime {

namespace {

constexpr std::size_t maxRanges = 65536; ///< of a region

/// Regions of one piece by buffer, with what was unknown on the way.
struct PieceRegions {
  std::vector<PieceUse> uses;
  bool allCertain = true;
  std::optional<Reason> unknownWrites;
};

PieceRegions regionsOf(const LaunchRequest& request, const KernelSummary& summary,
                       const GroupBox& box) {
  std::vector<ArgumentRegions> byArgument =
      evaluate(summary, request.range, request.arguments, box, maxRanges, request.contents);
  PieceRegions regions;
  regions.uses.resize(request.bufferCount);
  std::vector<ByteSet> certain(request.bufferCount);
  for (const BufferArgument& argument : request.buffers) {
    const ArgumentRegions& of = byArgument[argument.parameter];
    PieceUse& use = regions.uses[argument.buffer];
    use.needs = unite(use.needs, shift(of.reads, argument.origin));
    use.writes = unite(use.writes, shift(of.possibleWrites, argument.origin));
    certain[argument.buffer] =
        unite(certain[argument.buffer], shift(of.certainWrites, argument.origin));
    if (of.unknownWrites && !regions.unknownWrites)
      regions.unknownWrites = of.unknownWrites;
  }
  for (std::size_t buffer = 0; buffer < regions.uses.size(); ++buffer) {
    PieceUse& use = regions.uses[buffer];
    ByteSet uncertain = subtract(use.writes, certain[buffer]);
    if (!uncertain.empty()) {
      regions.allCertain = false;
      use.needs = unite(use.needs, uncertain);
    }
  }
  return regions;
}

/// Why two nodes' writes conflict, if they do.
std::optional<Reason> conflict(const std::map<NodeId, std::vector<ByteSet>>& writes,
                               const LaunchRequest& request, const KernelSummary& summary) {
  for (auto a = writes.begin(); a != writes.end(); ++a)
    for (auto b = std::next(a); b != writes.end(); ++b)
      for (std::size_t buffer = 0; buffer < request.bufferCount; ++buffer)
        if (a->second[buffer].intersects(b->second[buffer])) {
          for (const BufferArgument& argument : request.buffers)
            if (argument.buffer == buffer)
              return Reason{"different work-groups may write the same bytes of `" +
                                summary.parameters[argument.parameter].name + "`",
                            {}};
          return Reason{"different work-groups may write the same bytes", {}};
        }
  return std::nullopt;
}

} // namespace

PlanResult planCut(const LaunchRequest& request, std::span<const PlanDevice> devices,
                   unsigned dimension, std::span<const std::uint64_t> groups) {
  LaunchPlan plan;
  plan.dimension = dimension;
  std::map<NodeId, std::vector<ByteSet>> writesByNode;
  std::optional<Reason> unknownWrites;
  const KernelSummary* summary = nullptr;
  bool allCertain = true;
  std::uint64_t begin = 0;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    if (groups[device] == 0)
      continue;
    summary = devices[device].summary;
    if (!summary)
      return Reason{"a device can't run this kernel", {}};
    GroupBox box = slab(request.range, dimension, begin, begin + groups[device]);
    begin += groups[device];
    PieceRegions regions = regionsOf(request, *summary, box);
    allCertain = allCertain && regions.allCertain;
    if (regions.unknownWrites)
      unknownWrites = regions.unknownWrites;
    auto& nodeWrites = writesByNode[devices[device].node];
    nodeWrites.resize(request.bufferCount);
    for (std::size_t buffer = 0; buffer < request.bufferCount; ++buffer)
      nodeWrites[buffer] = unite(nodeWrites[buffer], regions.uses[buffer].writes);
    plan.pieces.push_back({device, box, std::move(regions.uses)});
  }
  if (begin != request.range.groups(dimension))
    return Reason{"the shares do not cover the NDRange", {}};
  plan.rung = allCertain ? Rung::Exact : Rung::Possible;
  if (unknownWrites)
    plan.rung = Rung::InPlace;
  if (writesByNode.size() > 1) {
    if (auto reason = conflict(writesByNode, request, *summary))
      return unknownWrites ? *unknownWrites : *reason;
    if (unknownWrites)
      return *unknownWrites;
  }
  return plan;
}

std::uint64_t bytesToMove(const LaunchPlan& plan, std::span<const PlanDevice> devices,
                          std::span<const Directory* const> directories) {
  std::uint64_t bytes = 0;
  for (std::size_t buffer = 0; buffer < directories.size(); ++buffer) {
    std::map<NodeId, ByteSet> needs;
    for (const Piece& piece : plan.pieces) {
      ByteSet& set = needs[devices[piece.device].node];
      set = unite(set, piece.uses[buffer].needs);
    }
    for (const auto& [node, set] : needs)
      bytes += directories[buffer]->missing(node, set).size();
  }
  return bytes;
}

std::string toString(const LaunchPlan& plan) {
  std::ostringstream text;
  text << "dimension " << plan.dimension << ", rung " << static_cast<int>(plan.rung);
  for (const Piece& piece : plan.pieces) {
    text << "; device " << piece.device << " groups [" << piece.box.begin[plan.dimension] << ","
         << piece.box.end[plan.dimension] << ")";
    for (std::size_t buffer = 0; buffer < piece.uses.size(); ++buffer)
      text << " b" << buffer << " needs " << piece.uses[buffer].needs.size() << " writes "
           << piece.uses[buffer].writes.size();
  }
  return text.str();
}

} // namespace libsplit::runtime
