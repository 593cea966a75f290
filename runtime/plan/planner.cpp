#include "runtime/plan/planner.h"

#include "runtime/plan/merge_plan.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>

namespace libsplit::runtime {

namespace {

constexpr std::size_t maxRanges = 65536; ///< of a region
/// … where all devices have one memory. Nothing travels there; regions only tell whether pieces
/// disturb each other, and each range takes a tenth of a microsecond.
constexpr std::size_t maxRangesInOneMemory = 1024;

bool haveOneMemory(std::span<const PlanDevice> devices) {
  return std::ranges::all_of(
      devices, [&](const PlanDevice& device) { return device.node == devices.front().node; });
}

struct PieceRegions {
  PieceEffects effects;
  bool inPlace = false; ///< what it writes overlaps with others' and must lie in one memory
};

/// Bytes of a pixel; 0: the argument is no image.
std::uint64_t pixelOf(const LaunchRequest& request, const KernelSummary& summary,
                      unsigned parameter) {
  ImageNumbers numbers;
  const std::span<const std::byte> bytes = request.arguments[parameter].bytes;
  if (summary.parameters[parameter].kind != ParameterKind::Image || bytes.size() != sizeof numbers)
    return 0;
  std::memcpy(&numbers, bytes.data(), sizeof numbers);
  return numbers.pixel;
}

/// Pixels travel whole: those of which `bytes` has any, or only those of which it has all.
ByteSet inPixels(const ByteSet& bytes, std::uint64_t pixel, bool partly) {
  ByteSet pixels;
  for (const ByteRange& each : bytes.ranges()) {
    const std::uint64_t more = pixel - 1;
    const ByteRange whole{(each.begin + (partly ? 0 : more)) / pixel * pixel,
                          (each.end + (partly ? more : 0)) / pixel * pixel};
    if (whole.begin < whole.end)
      pixels.add(whole);
  }
  return pixels;
}

/// `most`: ranges of a region. `taken`: by parameter, whether the piece is taken to read all of it
/// and to write nothing.
PieceRegions regionsOf(const LaunchRequest& request, const KernelSummary& summary,
                       const GroupBox& box, std::size_t most, const std::vector<bool>& taken) {
  std::vector<ArgumentRegions> byArgument =
      evaluate(summary, request.range, request.arguments, box, most, request.contents, taken);
  for (std::size_t p = 0; p < taken.size() && p < byArgument.size(); ++p)
    if (taken[p])
      byArgument[p].reads = ByteSet(0, request.arguments[p].bufferSize);
  PieceRegions regions;
  regions.effects.buffers.resize(request.bufferCount);
  for (const BufferArgument& argument : request.buffers) {
    ArgumentRegions& of = byArgument[argument.parameter];
    if (const std::uint64_t pixel = pixelOf(request, summary, argument.parameter)) {
      of.reads = inPixels(of.reads, pixel, true);
      of.possibleWrites = inPixels(of.possibleWrites, pixel, true);
      of.certainWrites = inPixels(of.certainWrites, pixel, false);
    }
    BufferEffects& effects = regions.effects.buffers[argument.buffer];
    auto add = [&](ByteSet& to, const ByteSet& bytes) {
      to.uniteWith(shift(bytes, argument.origin));
    };
    add(effects.reads, of.reads);
    add(effects.possibleWrites, of.possibleWrites);
    add(effects.certainWrites, of.certainWrites);
    add(effects.rewrites, of.rewrites);
    for (const UpdatedBytes& updated : of.updates)
      effects.updates.push_back(
          {updated.kind, shift(updated.bytes, argument.origin), updated.where});
    regions.inPlace = regions.inPlace || of.unknownWrites || !of.updates.empty();
  }
  return regions;
}

/// If all devices have one memory everything is there, and which bytes a piece reads matters only
/// if another may write them. By parameter: whether its buffer is one that the launch only reads,
/// so that finding out would be for nothing. It can take many times as long as a short launch.
std::vector<bool> readFromOneMemory(const LaunchRequest& request,
                                    std::span<const PlanDevice> devices) {
  if (!haveOneMemory(devices))
    return {};
  std::vector<bool> changed(request.bufferCount), taken(request.arguments.size());
  for (const PlanDevice& device : devices) {
    if (!device.summary)
      continue;
    for (const Access& access : device.summary->accesses)
      for (const BufferArgument& argument : request.buffers)
        if (argument.parameter == access.parameter && access.effect != Effect::Read)
          changed[argument.buffer] = true;
  }
  for (const BufferArgument& argument : request.buffers)
    taken[argument.parameter] = !changed[argument.buffer];
  return taken;
}

std::vector<BufferTraits> traitsOf(const LaunchRequest& request,
                                   std::span<const PlanDevice> devices,
                                   std::span<const Piece> pieces) {
  std::vector<BufferTraits> traits(request.bufferCount);
  for (const BufferArgument& argument : request.buffers) {
    BufferTraits& buffer = traits[argument.buffer];
    buffer.end =
        std::max(buffer.end, argument.origin + request.arguments[argument.parameter].bufferSize);
    buffer.origins |= argument.origin;
    for (const Piece& piece : pieces) {
      const KernelSummary& summary = *devices[piece.device].summary;
      if (buffer.name.empty())
        buffer.name = summary.parameters[argument.parameter].name;
      for (const Access& access : summary.accesses)
        if (access.parameter == argument.parameter && access.effect == Effect::Write)
          buffer.grain = std::min(buffer.grain, access.grain);
    }
  }
  return traits;
}

ByteSet updatedBytes(const BufferEffects& effects) {
  ByteSet all;
  for (const UpdatedBytes& updated : effects.updates)
    all.uniteWith(updated.bytes);
  return all;
}

/// Of the accesses of `piece` to `buffer` that have `effect`, the first that certainly touches some
/// of `bytes`: `bytes` are then those.
const Access* certainlyTouching(ByteSet& bytes, Effect effect, const LaunchRequest& request,
                                const KernelSummary& summary, const Piece& piece,
                                std::size_t buffer, unsigned& budget) {
  for (const Access& access : summary.accesses) {
    if (access.effect != effect)
      continue;
    for (const BufferArgument& argument : request.buffers) {
      if (argument.parameter != access.parameter || argument.buffer != buffer)
        continue;
      ByteSet touched =
          intersect(bytes, shift(certainBytes(summary, access, request.range, request.arguments,
                                              piece.box, budget, maxRanges),
                                 argument.origin));
      if (touched.empty())
        continue;
      bytes = std::move(touched);
      return &access;
    }
  }
  return nullptr;
}

std::string lineOf(const Access& access) {
  return (access.where.file.empty() ? "line " : access.where.file + ":") +
         std::to_string(access.where.line);
}

/// Whether one piece reads what another writes, for sure: then what it finds depends on which is
/// first. OpenCL does not say, and on one device that takes work-groups in their order programs
/// come to rely on it nevertheless. Only what follows from ids and arguments counts. Where data
/// decide, as in searches that mark what they have reached, either may be first, and is.
std::optional<Reason> findRace(const LaunchRequest& request, std::span<const PlanDevice> devices,
                               std::span<const Piece> pieces, std::span<const PieceEffects> effects,
                               std::span<const BufferTraits> traits) {
  unsigned budget = 1024; // in all: a fraction of a millisecond or, for long rows, a few
  for (std::size_t b = 0; b < request.bufferCount; ++b)
    for (std::size_t reader = 0; reader < pieces.size(); ++reader)
      for (std::size_t writer = 0; writer < pieces.size(); ++writer) {
        const BufferEffects& reading = effects[reader].buffers[b];
        const ByteSet& written = effects[writer].buffers[b].certainWrites;
        if (reader == writer || !reading.reads.intersects(written))
          continue;
        // A piece that writes these bytes itself may mean its own.
        ByteSet bytes = subtract(intersect(reading.reads, written), reading.certainWrites);
        if (bytes.empty())
          continue;
        auto find = [&](std::size_t piece, Effect effect) {
          return certainlyTouching(bytes, effect, request, *devices[pieces[piece].device].summary,
                                   pieces[piece], b, budget);
        };
        const Access* read = find(reader, Effect::Read);
        const Access* write = read ? find(writer, Effect::Write) : nullptr;
        if (write)
          return Reason{"work-groups read bytes of `" + traits[b].name + "` that others write in " +
                            lineOf(*write) + ", and nothing orders them",
                        read->where};
      }
  return std::nullopt;
}

/// What several devices may write in an image is not put together: that takes bytes that lie
/// somewhere.
std::optional<Reason> findImage(const LaunchRequest& request, const KernelSummary& summary,
                                std::span<const Merge> merges) {
  for (const Merge& merge : merges)
    for (const BufferArgument& argument : request.buffers)
      if (argument.buffer == merge.buffer &&
          summary.parameters[argument.parameter].kind == ParameterKind::Image) {
        const auto unknown = std::ranges::find_if(summary.accesses, [&](const Access& access) {
          return access.parameter == argument.parameter && access.effect == Effect::Write &&
                 access.offset.op() == Expr::Op::Unknown;
        });
        if (unknown != summary.accesses.end())
          return Reason{unknown->offset.text(), unknown->where};
        return Reason{"work-groups of several devices may write the same pixels of `" +
                          summary.parameters[argument.parameter].name + "`",
                      {}};
      }
  return std::nullopt;
}

/// Whether all that the launch changes in argument `parameter` is known to lie at places of each
/// work-item's own.
bool haveTheirOwnPlaces(const LaunchRequest& request, std::span<const PlanDevice> devices,
                        std::span<const Piece> pieces, unsigned parameter) {
  std::vector<const KernelSummary*> summaries;
  for (const Piece& piece : pieces)
    summaries.push_back(devices[piece.device].summary);
  return request.contents && request.contents->areDistinct(summaries, parameter);
}

/// By parameter, whether it is bound to the buffer of `merge`, and the kernel reads what is merged
/// through another one: `out[p] = in[p] + 1` changes that where both are one buffer.
std::vector<bool> readOtherwise(const LaunchRequest& request, const KernelSummary& summary,
                                const Merge& merge) {
  std::vector<bool> reads(summary.parameters.size()), otherwise(reads.size());
  for (const Access& access : summary.accesses)
    reads[access.parameter] = reads[access.parameter] || access.effect == Effect::Read;
  for (const BufferArgument& read : request.buffers) {
    const std::uint64_t end = read.origin + request.arguments[read.parameter].bufferSize;
    if (read.buffer != merge.buffer || !reads[read.parameter] ||
        !merge.bytes.intersects(ByteSet(read.origin, end)))
      continue;
    for (const BufferArgument& written : request.buffers)
      if (written.buffer == merge.buffer && written.parameter != read.parameter)
        otherwise[written.parameter] = true;
  }
  return otherwise;
}

/// Of several devices that change one place, each from what it found there, the work of all but one
/// would be lost. Not so where each work-item is known to have places of its own, all of them by
/// way of one argument.
std::optional<Reason> findLostWork(const LaunchRequest& request,
                                   std::span<const PlanDevice> devices,
                                   std::span<const Piece> pieces, std::span<const Merge> merges) {
  for (const Merge& merge : merges) {
    if (merge.update)
      continue;
    for (const Piece& piece : pieces) {
      const KernelSummary& summary = *devices[piece.device].summary;
      const std::vector<bool> isReadOtherwise = readOtherwise(request, summary, merge);
      const auto mayLose = [&](const Access& access) {
        return access.effect == Effect::Write &&
               (access.changes || isReadOtherwise[access.parameter]) &&
               std::ranges::any_of(request.buffers, [&](const BufferArgument& argument) {
                 return argument.buffer == merge.buffer && argument.parameter == access.parameter;
               });
      };
      const auto change = std::ranges::find_if(summary.accesses, mayLose);
      if (change == summary.accesses.end())
        continue;
      KernelSummary changes = summary;
      std::erase_if(changes.accesses, [&](const Access& access) { return !mayLose(access); });
      LaunchRequest asked = request;
      asked.contents = nullptr; // what is worth finding out has been asked for
      const PieceRegions regions = regionsOf(asked, changes, piece.box, maxRanges, {});
      if (!regions.effects.buffers[merge.buffer].possibleWrites.intersects(merge.bytes))
        continue;
      const bool byOneArgument = std::ranges::all_of(changes.accesses, [&](const Access& access) {
        return access.parameter == change->parameter && access.changes;
      });
      if (byOneArgument && haveTheirOwnPlaces(request, devices, pieces, change->parameter))
        continue;
      return Reason{"work-groups of several devices may change the same bytes of `" +
                        summary.parameters[change->parameter].name +
                        "`, each from what it found there",
                    change->where};
    }
  }
  return std::nullopt;
}

/// Bytes that a device may store back as they were are its own where nobody else writes them:
/// vectors then stay whole where they travel. They must be there before, and are valid after.
void makeOwn(BufferEffects& effects, const ByteSet& bytes) {
  effects.reads.uniteWith(bytes);
  effects.possibleWrites.uniteWith(bytes);
  effects.certainWrites.uniteWith(bytes);
}

/// Beside a component of a vector that it writes a device may store back the others, with what they
/// held. Where another piece writes these, they are not among what the piece leaves behind. In one
/// memory that is no way: there the old component would take the new one's place.
std::optional<Reason> settleRewrites(std::vector<PieceEffects>& pieces,
                                     std::span<const BufferTraits> buffers) {
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (std::all_of(pieces.begin(), pieces.end(),
                    [&](const PieceEffects& piece) { return piece.buffers[b].rewrites.empty(); }))
      continue;
    std::vector<ByteSet> own;
    for (const PieceEffects& piece : pieces) {
      const ByteSet rewrites = subtract(piece.buffers[b].rewrites, piece.buffers[b].certainWrites);
      own.push_back(rewrites);
      for (const PieceEffects& other : pieces) {
        const BufferEffects& does = other.buffers[b];
        if (rewrites.intersects(updatedBytes(does)))
          return Reason{"atomic operations on parts of vectors in `" + buffers[b].name +
                            "`, of which other parts are written",
                        {}};
        if (&other == &piece)
          continue;
        if (other.node == piece.node && rewrites.intersects(does.possibleWrites))
          return Reason{"work-groups of several devices write components of the same vectors in `" +
                            buffers[b].name + "`, and the devices share their memory",
                        {}};
        own.back() = subtract(own.back(), unite(does.possibleWrites, does.rewrites));
      }
    }
    for (std::size_t p = 0; p < pieces.size(); ++p)
      makeOwn(pieces[p].buffers[b], own[p]);
  }
  return std::nullopt;
}

/// What a piece must have and leaves behind, once it is known which bytes others share.
PieceUse useOf(const BufferEffects& effects, ByteSet shared) {
  ByteSet changes = effects.possibleWrites;
  const ByteSet updates = updatedBytes(effects);
  PieceUse use;
  use.needs = unite(effects.reads, subtract(effects.possibleWrites, effects.certainWrites));
  use.needs.uniteWith(subtract(updates, shared));
  changes.uniteWith(updates);
  use.writes = subtract(changes, shared);
  use.merged = intersect(changes, shared);
  return use;
}

/// A piece that writes all but the ends of many rows, and is the first to write there, gets the
/// rows whole beforehand. The ends are all that it lacks when it, or another kernel, reads the rows
/// in turn; and thousands of them, a few bytes each, take longer than the rows at once: 57 ms
/// against 5 ms for 8192 rows of 32 KiB, on a GPU at the end of a fast bus.
ByteSet withWholeRows(const PieceUse& use) {
  constexpr std::size_t manyRows = 64;
  if (use.writes.ranges().size() < manyRows)
    return use.needs;
  return unite(use.needs, fillGaps(use.writes, use.writes.hull()));
}

Rung rungOf(std::span<const PieceEffects> effects, const LaunchPlan& plan) {
  Rung rung = Rung::Exact;
  for (const PieceEffects& piece : effects)
    for (const BufferEffects& buffer : piece.buffers)
      if (!buffer.updates.empty() || buffer.possibleWrites != buffer.certainWrites)
        rung = Rung::Possible;
  for (const Merge& merge : plan.merges)
    rung = std::max(rung, merge.update ? Rung::Atomics : Rung::Difference);
  return rung;
}

} // namespace

PlanResult planCut(const LaunchRequest& request, std::span<const PlanDevice> devices,
                   unsigned dimension, std::span<const std::uint64_t> groups) {
  LaunchPlan plan;
  plan.dimension = dimension;
  std::vector<PieceEffects> effects;
  bool inPlace = false, severalNodes = false;
  const std::vector<bool> taken = readFromOneMemory(request, devices);
  const std::size_t most = haveOneMemory(devices) ? maxRangesInOneMemory : maxRanges;
  std::uint64_t begin = 0;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    if (groups[device] == 0)
      continue;
    const KernelSummary* summary = devices[device].summary;
    if (!summary)
      return Reason{"a device can't run this kernel", {}};
    GroupBox box = slab(request.range, dimension, begin, begin + groups[device]);
    begin += groups[device];
    PieceRegions regions = regionsOf(request, *summary, box, most, taken);
    regions.effects.node = devices[device].node;
    inPlace = inPlace || regions.inPlace;
    effects.push_back(std::move(regions.effects));
    severalNodes = severalNodes || effects.back().node != effects.front().node;
    plan.pieces.push_back({device, box, {}});
  }
  if (begin != request.range.groups(dimension))
    return Reason{"the shares do not cover the NDRange", {}};
  const std::vector<BufferTraits> traits = traitsOf(request, devices, plan.pieces);
  if (auto reason = findRace(request, devices, plan.pieces, effects, traits))
    return *reason;
  if (auto reason = settleRewrites(effects, traits))
    return *reason;
  std::vector<ByteSet> shared(request.bufferCount);
  if (severalNodes) {
    auto merges = planMerges(effects, traits);
    if (auto* reason = std::get_if<Reason>(&merges))
      return *reason;
    plan.merges = std::get<std::vector<Merge>>(std::move(merges));
    if (auto reason = findImage(request, *devices[plan.pieces.front().device].summary, plan.merges))
      return *reason;
    if (auto reason = findLostWork(request, devices, plan.pieces, plan.merges))
      return *reason;
    for (const Merge& merge : plan.merges)
      shared[merge.buffer].uniteWith(merge.bytes);
  }
  for (std::size_t p = 0; p < effects.size(); ++p)
    for (std::size_t buffer = 0; buffer < request.bufferCount; ++buffer) {
      PieceUse use = useOf(effects[p].buffers[buffer], shared[buffer]);
      if (devices[plan.pieces[p].device].copiesRowByRow && plan.merges.empty())
        use.needs = withWholeRows(use);
      use.rewrites = effects[p].buffers[buffer].rewrites;
      plan.pieces[p].uses.push_back(std::move(use));
    }
  plan.rung = rungOf(effects, plan);
  if (!severalNodes && inPlace)
    plan.rung = Rung::InPlace;
  return plan;
}

Piece planPiece(const LaunchRequest& request, std::span<const PlanDevice> devices,
                std::size_t device, unsigned dimension, std::uint64_t begin, std::uint64_t end) {
  return planPiece(request, devices, device, slab(request.range, dimension, begin, end));
}

Piece planPiece(const LaunchRequest& request, std::span<const PlanDevice> devices,
                std::size_t device, const GroupBox& box, const std::vector<bool>& asked) {
  std::vector<bool> taken(asked.empty() ? 0 : request.arguments.size());
  if (!asked.empty())
    for (const BufferArgument& argument : request.buffers)
      taken[argument.parameter] = !asked[argument.buffer];
  PieceRegions regions = regionsOf(request, *devices[device].summary, box, maxRanges, taken);
  Piece piece{device, box, {}};
  for (BufferEffects& effects : regions.effects.buffers) {
    makeOwn(effects, effects.rewrites);
    piece.uses.push_back(useOf(effects, {}));
    piece.uses.back().rewrites = std::move(effects.rewrites);
  }
  return piece;
}

bool rewriteEachOther(const std::vector<PieceUse>& a, const std::vector<PieceUse>& b) {
  for (std::size_t buffer = 0; buffer < a.size(); ++buffer)
    if (a[buffer].rewrites.intersects(b[buffer].writes) ||
        b[buffer].rewrites.intersects(a[buffer].writes))
      return true;
  return false;
}

std::uint64_t costOfMoving(const ByteSet& bytes) {
  // A GPU at the end of a fast bus takes 10 ns for a row however short, and sends 55 bytes in one.
  constexpr std::uint64_t perRange = 512;
  return bytes.size() + perRange * bytes.ranges().size();
}

std::uint64_t costOfMoving(const LaunchPlan& plan, std::span<const PlanDevice> devices,
                           std::span<const Directory* const> directories) {
  std::uint64_t cost = 0;
  for (std::size_t buffer = 0; buffer < directories.size(); ++buffer) {
    std::map<NodeId, ByteSet> needs;
    for (const Piece& piece : plan.pieces) {
      ByteSet& set = needs[devices[piece.device].node];
      set.uniteWith(piece.uses[buffer].needs);
    }
    for (const auto& [node, set] : needs)
      cost += costOfMoving(directories[buffer]->missing(node, set));
  }
  for (const Merge& merge : plan.merges) {
    cost += costOfMoving(directories[merge.buffer]->missing(hostNode, merge.bytes));
    for (const Merge::Part& part : merge.parts)
      cost += costOfMoving(part.bytes);
  }
  return cost;
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
  for (const Merge& merge : plan.merges)
    text << "; merge b" << merge.buffer << " "
         << (merge.update ? nameOf(merge.update->operation) : "by difference") << " "
         << merge.bytes.size() << " bytes in elements of " << merge.grain;
  return text.str();
}

} // namespace libsplit::runtime
