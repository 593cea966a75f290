#include "runtime/cost/outlook.h"

#include "solver/share_solver.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace libsplit::runtime {

namespace {

/// Devices slower than home by more than this are left out of one of the candidates.
constexpr double muchSlower = 4;
/// Rounds of descent over all launches.
constexpr unsigned mostRounds = 4;
/// From the best of so many beginnings.
constexpr std::size_t mostStarts = 16;
/// In longer cycles launches are changed together.
constexpr std::size_t mostSingles = 32;
/// With fewer work-groups for each device shares are coarse.
constexpr std::uint64_t fewGroups = 8;

/// What one launch does, if it is done in this way.
struct Way {
  struct Use {
    std::map<NodeId, ByteSet> needs, writes;
  };
  std::vector<Use> uses; ///< by the step's buffers
  std::vector<Merge> merges;
  double seconds = 0; ///< without moving
  Outlook::Step step;
  std::shared_ptr<const Way> later; ///< of the step's later launch, if it has one

  /// The dimension; nothing: it stays at home.
  std::optional<unsigned> cutAlong() const {
    return step.plan ? std::optional(step.dimension) : std::nullopt;
  }
};

class Cycle {
public:
  Cycle(std::span<const OutlookStep> steps, const OutlookMachine& machine,
        const std::function<bool()>& goesOn)
      : steps_(steps), machine_(machine), goesOn_(goesOn) {
    for (const OutlookStep& step : steps)
      for (std::size_t b = 0; b < step.buffers.size(); ++b)
        sizes_[step.buffers[b]] = step.sizes[b];
    for (const OutlookStep& step : steps)
      atHome_.push_back({atHome(step)});
  }

  /// A cycle at home.
  double homeSeconds() const {
    return play(atHome_, std::vector<std::size_t>(atHome_.size())).each;
  }

  /// The best over `devices` (by device: takes part); false if the search was ended.
  bool search(const std::vector<bool>& devices, Outlook& best) {
    std::vector<std::vector<Way>> ways;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      ways.push_back(waysOf(i, devices));
      if (!goesOn_())
        return false;
    }
    std::vector<std::size_t> chosen;
    Played least{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (const double shortest : shortestToCut(ways)) {
      std::vector<std::size_t> start = longerOnes(ways, shortest);
      const Played now = play(ways, start);
      if (chosen.empty() || now.each < least.each) {
        least = now;
        chosen = std::move(start);
      }
      if (!goesOn_())
        return false;
    }
    const std::vector<std::vector<std::size_t>> units = unitsOfChange();
    for (unsigned round = 0, changes = 1; round < mostRounds && changes > 0; ++round) {
      changes = 0;
      for (const std::vector<std::size_t>& unit : units)
        for (const std::optional<unsigned>& dimension : dimensionsOf(unit, ways)) {
          const std::vector<std::size_t> changed = withCut(unit, dimension, ways, chosen);
          if (changed == chosen)
            continue;
          if (!goesOn_())
            return false;
          const Played now = play(ways, changed);
          if (now.each < least.each) {
            least = now;
            chosen = changed;
            ++changes;
          }
        }
    }
    if (!best.steps.empty() && least.each >= best.seconds)
      return true;
    best.seconds = least.each;
    best.onceSeconds = std::max(0.0, least.first - least.each);
    const Buffers constants = constantsOf(ways, chosen);
    best.restSeconds = std::max(0.0, play(ways, chosen, constants).first - least.each);
    best.steps.clear();
    for (std::size_t i = 0; i < ways.size(); ++i) {
      Outlook::Step& step = best.steps.emplace_back(ways[i][chosen[i]].step);
      for (const void* buffer : steps_[i].buffers)
        step.isConstant.push_back(constants.contains(buffer));
    }
    return true;
  }

private:
  struct Played {
    double first = 0; ///< seconds of the first cycle
    double each = 0;  ///< … of those after it
  };
  using Buffers = std::set<const void*>;

  /// Which launches may be worth their splitting: those from so many seconds on. First all of them,
  /// at last none.
  std::vector<double> shortestToCut(const std::vector<std::vector<Way>>& ways) const {
    std::set<double> seconds;
    for (std::size_t i = 0; i < ways.size(); ++i)
      if (ways[i].size() > 1)
        seconds.insert(steps_[i].homeSeconds);
    std::vector<double> shortest;
    const std::size_t each = (seconds.size() + mostStarts - 1) / mostStarts;
    std::size_t i = 0;
    for (const double next : seconds)
      if (i++ % each == 0)
        shortest.push_back(next);
    shortest.push_back(std::numeric_limits<double>::infinity());
    return shortest;
  }

  /// Those as each would be cut by itself, the first way after home; the others at home.
  std::vector<std::size_t> longerOnes(const std::vector<std::vector<Way>>& ways,
                                      double shortest) const {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < ways.size(); ++i)
      chosen.push_back(ways[i].size() > 1 && steps_[i].homeSeconds >= shortest ? 1 : 0);
    return chosen;
  }

  /// Launches that the descent changes together: each by itself in a short cycle; in a long one,
  /// which takes long to play, those of one kernel, then those that follow each other.
  std::vector<std::vector<std::size_t>> unitsOfChange() const {
    std::vector<std::vector<std::size_t>> units;
    const std::size_t each = (steps_.size() + mostSingles - 1) / mostSingles;
    if (each > 1) {
      std::map<const KernelSummary*, std::vector<std::size_t>> byKernel;
      for (std::size_t i = 0; i < steps_.size(); ++i)
        if (!steps_[i].devices.empty())
          byKernel[steps_[i].devices[machine_.home].summary].push_back(i);
      for (auto& [kernel, launches] : byKernel)
        units.push_back(std::move(launches));
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (i % each == 0)
        units.emplace_back();
      units.back().push_back(i);
    }
    return units;
  }

  /// Along which any of the launches can be cut; nothing: left at home.
  static std::set<std::optional<unsigned>> dimensionsOf(const std::vector<std::size_t>& unit,
                                                        const std::vector<std::vector<Way>>& ways) {
    std::set<std::optional<unsigned>> dimensions;
    for (const std::size_t i : unit)
      for (const Way& way : ways[i])
        dimensions.insert(way.cutAlong());
    return dimensions;
  }

  /// The ways chosen, but those launches cut along that dimension, as far as they can be.
  static std::vector<std::size_t> withCut(const std::vector<std::size_t>& unit,
                                          const std::optional<unsigned>& dimension,
                                          const std::vector<std::vector<Way>>& ways,
                                          std::vector<std::size_t> chosen) {
    for (const std::size_t i : unit) {
      const auto way = std::ranges::find(ways[i], dimension, &Way::cutAlong);
      if (way != ways[i].end())
        chosen[i] = static_cast<std::size_t>(way - ways[i].begin());
    }
    return chosen;
  }

  /// Where nobody writes, cycle for cycle the same.
  Buffers constantsOf(const std::vector<std::vector<Way>>& ways,
                      const std::vector<std::size_t>& chosen) const {
    Buffers constants;
    for (const auto& [buffer, size] : sizes_)
      constants.insert(buffer);
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const OutlookStep& step = steps_[i];
      const Way& way = ways[i][chosen[i]];
      for (std::size_t b = 0; b < step.buffers.size(); ++b)
        if (way.later || std::ranges::any_of(way.uses[b].writes, [](const auto& written) {
              return !written.second.empty();
            }))
          constants.erase(step.buffers[b]);
      for (const Merge& merge : way.merges)
        constants.erase(step.buffers[merge.buffer]);
      for (const ProgramCommand& command : step.before)
        if (command.kind == ProgramCommand::Kind::Write ||
            command.kind == ProgramCommand::Kind::HomeWrites)
          constants.erase(command.buffer);
    }
    return constants;
  }

  /// At home first, then by what a launch by itself would rather be cut along.
  std::vector<Way> waysOf(std::size_t i, const std::vector<bool>& devices) const {
    const OutlookStep& step = steps_[i];
    std::vector<Way> ways = atHome_[i];
    const std::vector<double> shares = sharesOf(step, devices);
    if (shares.empty())
      return ways;
    using Order = std::tuple<int, bool, std::uint64_t>;
    std::vector<std::pair<Order, Way>> cuts;
    std::vector<unsigned> dimensions;
    for (unsigned d = step.request.range.dimensions; d-- > 0;)
      dimensions.push_back(d);
    if (step.dimension)
      std::ranges::stable_partition(dimensions, [&](unsigned d) { return d == *step.dimension; });
    for (const unsigned d : dimensions) {
      if (step.dimension && !cuts.empty())
        break;
      std::optional<Way> way = cut(step, shares, d);
      std::optional<Way> later = way && step.later ? cut(*step.later, shares, d) : std::nullopt;
      if (!way || (step.later && !later))
        continue;
      if (later) {
        later->seconds += later->step.planningSeconds;
        way->later = std::make_shared<const Way>(std::move(*later));
      }
      // Of those that come out alike, that whose bytes lie in few places: to look at each takes
      // time.
      const Order order{way->merges.empty() ? 0 : static_cast<int>(way->step.plan->rung),
                        step.request.range.groups(d) < fewGroups * shares.size(), placesOf(*way)};
      cuts.emplace_back(order, std::move(*way));
      if (!goesOn_())
        break;
    }
    std::ranges::stable_sort(cuts, {}, [](const auto& cut) { return cut.first; });
    for (auto& [order, way] : cuts)
      ways.push_back(std::move(way));
    return ways;
  }

  /// What all its bytes would cost, each range by itself.
  static std::uint64_t placesOf(const Way& way) {
    std::uint64_t cost = 0;
    for (const auto& use : way.uses)
      for (const auto* sets : {&use.needs, &use.writes})
        for (const auto& [node, bytes] : *sets)
          cost += costOfMoving(bytes);
    return cost;
  }

  /// Along that dimension; nothing if that can't be.
  std::optional<Way> cut(const OutlookStep& step, const std::vector<double>& shares,
                         unsigned dimension) const {
    const std::uint64_t groups = step.request.range.groups(dimension);
    if (groups < 2)
      return std::nullopt;
    const auto began = std::chrono::steady_clock::now();
    PlanResult result =
        planCut(step.request, step.devices, dimension, solver::roundToGroups(shares, groups));
    const std::chrono::duration<double> planning = std::chrono::steady_clock::now() - began;
    auto* plan = std::get_if<LaunchPlan>(&result);
    if (!plan)
      return std::nullopt;
    Way way = split(step, shares, dimension, std::move(*plan));
    way.step.planningSeconds = planning.count();
    return way;
  }

  /// By the speeds of those that take part; empty if that is not more than one.
  std::vector<double> sharesOf(const OutlookStep& step, const std::vector<bool>& devices) const {
    if (step.devices.empty())
      return {};
    std::vector<double> shares = step.speeds;
    for (std::size_t d = 0; d < shares.size(); ++d)
      if (!devices[d] || !step.devices[d].summary)
        shares[d] = 0;
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (!(sum > 0) || shares[machine_.home] >= sum)
      return {};
    for (double& share : shares)
      share /= sum;
    return shares;
  }

  Way atHome(const OutlookStep& step) const {
    Way way;
    if (step.later)
      way.later = std::make_shared<const Way>(atHome(*step.later));
    way.seconds = step.homeSeconds;
    way.uses.resize(step.buffers.size());
    if (step.devices.empty()) {
      for (std::size_t b = 0; b < step.buffers.size(); ++b) {
        way.uses[b].needs[machine_.homeNode] = ByteSet(0, step.sizes[b]);
        if (step.writes[b])
          way.uses[b].writes[machine_.homeNode] = ByteSet(0, step.sizes[b]);
      }
      return way;
    }
    const Piece whole =
        planPiece(step.request, step.devices, machine_.home, 0, 0, step.request.range.groups(0));
    add(way, machine_.homeNode, whole);
    way.step.shares.assign(step.devices.size(), 0.0);
    way.step.shares[machine_.home] = 1;
    return way;
  }

  Way split(const OutlookStep& step, const std::vector<double>& shares, unsigned dimension,
            LaunchPlan plan) const {
    Way way;
    way.uses.resize(step.buffers.size());
    const double home = step.speeds[machine_.home];
    const auto groups = static_cast<double>(step.request.range.groups(dimension));
    for (const Piece& piece : plan.pieces) {
      add(way, step.devices[piece.device].node, piece);
      const auto part =
          static_cast<double>(piece.box.end[dimension] - piece.box.begin[dimension]) / groups;
      way.seconds =
          std::max(way.seconds, part * step.homeSeconds * home / step.speeds[piece.device]);
    }
    way.seconds = step.isWaitedFor ? way.seconds + machine_.secondsPerSplit
                                   : std::max(way.seconds, machine_.secondsBehind);
    way.merges = plan.merges;
    way.step.shares = shares;
    way.step.dimension = dimension;
    way.step.plan = std::make_shared<const LaunchPlan>(std::move(plan));
    return way;
  }

  static void add(Way& way, NodeId node, const Piece& piece) {
    for (std::size_t b = 0; b < piece.uses.size(); ++b) {
      ByteSet& needs = way.uses[b].needs[node];
      needs.uniteWith(piece.uses[b].needs);
      ByteSet& writes = way.uses[b].writes[node];
      writes.uniteWith(piece.uses[b].writes);
    }
  }

  /// Two cycles, one after the other, from all bytes at home, those of `everywhere` also elsewhere.
  Played play(const std::vector<std::vector<Way>>& ways, const std::vector<std::size_t>& chosen,
              const Buffers& everywhere = {}) const {
    std::map<const void*, Directory> directories;
    for (const auto& [buffer, size] : sizes_) {
      Directory& directory =
          directories.emplace(buffer, Directory(machine_.nodes, machine_.homeNode, size))
              .first->second;
      for (NodeId node = 0; node < machine_.nodes && everywhere.contains(buffer); ++node)
        directory.confirm(node, ByteSet(0, size));
    }
    Played played;
    for (double* seconds : {&played.first, &played.each})
      for (std::size_t i = 0; i < ways.size(); ++i) {
        const Way& first = ways[i][chosen[i]];
        const Way& way = seconds == &played.each && first.later ? *first.later : first;
        for (const ProgramCommand& command : steps_[i].before)
          if (const auto on = directories.find(command.buffer); on != directories.end())
            *seconds += move(command, on->second);
        *seconds += way.seconds + move(steps_[i], way, directories);
      }
    return played;
  }

  /// Seconds that so many bytes take from one memory to another. The program's own device gets them
  /// from its memory as without libsplit, over no link of the others.
  double seconds(NodeId from, NodeId to, const ByteSet& bytes) const {
    const bool isToHome = std::minmax(from, to) == std::minmax(hostNode, machine_.homeNode);
    return machine_.secondsPerMove +
           (isToHome ? machine_.secondsPerHomeByte : machine_.secondsPerByte) *
               static_cast<double>(costOfMoving(bytes));
  }

  /// Seconds that the program's command takes to move bytes, over the way that most goes.
  double move(const ProgramCommand& command, Directory& directory) const {
    double most = 0;
    switch (command.kind) {
    case ProgramCommand::Kind::Write:
      directory.wrote(hostNode, command.bytes); // who needs them brings them from there
      break;
    case ProgramCommand::Kind::HomeWrites:
      directory.wrote(machine_.homeNode, command.bytes);
      break;
    case ProgramCommand::Kind::HomeReads: {
      const Directory::Need need{machine_.homeNode, &command.bytes};
      for (const Directory::NeededMove& each : directory.bringAll({&need, 1}))
        most += seconds(each.move.from, each.move.to, each.move.bytes);
      break;
    }
    case ProgramCommand::Kind::Read: // no node gets anything
      for (const Directory::Part& part : directory.sources(machine_.homeNode, command.bytes))
        if (part.node != hostNode)
          most = std::max(most, seconds(part.node, hostNode, part.bytes));
      break;
    }
    return most;
  }

  /// Seconds that it takes to bring what the launch needs, over the way that most goes.
  double move(const OutlookStep& step, const Way& way,
              std::map<const void*, Directory>& directories) const {
    std::map<NodeId, double> arriving; // seconds
    auto arrives = [&](NodeId from, NodeId to, const ByteSet& bytes) {
      arriving[to] += seconds(from, to, bytes);
    };
    for (std::size_t b = 0; b < way.uses.size(); ++b) {
      Directory& directory = directories.at(step.buffers[b]);
      std::vector<Directory::Need> needs;
      for (const auto& [node, bytes] : way.uses[b].needs)
        needs.push_back({node, &bytes});
      for (const Directory::NeededMove& each : directory.bringAll(needs))
        arrives(each.move.from, each.move.to, each.move.bytes);
      for (const auto& [node, bytes] : way.uses[b].writes)
        if (!bytes.empty())
          directory.wrote(node, bytes);
    }
    for (const Merge& merge : way.merges) {
      Directory& directory = directories.at(step.buffers[merge.buffer]);
      for (const Merge::Part& part : merge.parts)
        arrives(part.node, hostNode, part.bytes);
      directory.wrote(hostNode, merge.bytes);
    }
    double most = 0;
    for (const auto& [node, seconds] : arriving)
      most = std::max(most, seconds);
    return most;
  }

  std::span<const OutlookStep> steps_;
  const OutlookMachine& machine_;
  const std::function<bool()>& goesOn_;
  std::map<const void*, std::uint64_t> sizes_;
  std::vector<std::vector<Way>> atHome_; ///< by step, its only way at home
};

} // namespace

std::optional<Outlook> lookAhead(std::span<const OutlookStep> steps, const OutlookMachine& machine,
                                 const std::function<bool()>& goesOn) {
  Outlook best;
  std::vector<bool> all, fast;
  for (const OutlookStep& step : steps) {
    best.launchSeconds += step.homeSeconds;
    all.resize(std::max(all.size(), step.speeds.size()));
    fast.resize(all.size());
    for (std::size_t d = 0; d < step.speeds.size(); ++d) {
      all[d] = all[d] || step.speeds[d] > 0;
      fast[d] = fast[d] || step.speeds[d] * muchSlower > step.speeds[machine.home];
    }
  }
  Cycle cycle(steps, machine, goesOn);
  best.homeSeconds = cycle.homeSeconds();
  if (!cycle.search(all, best) || (fast != all && !cycle.search(fast, best)))
    return std::nullopt;
  return best;
}

} // namespace libsplit::runtime
