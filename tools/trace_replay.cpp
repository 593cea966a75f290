#include "tools/trace_replay.h"

#include "analysis-pass/summary/serialize.h"
#include "runtime/cost/launch_cycle.h"
#include "runtime/cost/moving_rate.h"
#include "runtime/cost/outlook.h"
#include "runtime/cost/share_controller.h"
#include "runtime/cost/split_cost.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/readers.h"
#include "solver/chunk_plan.h"

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace libsplit::tools {

namespace {

using namespace runtime;

/// Why nothing can be said of a launch.
struct Unknown {
  std::string why;
};

/// Goes through a trace once.
class Replay {
public:
  /// Without a `policy` launches are cut as they were, for which `setting` must be the trace's.
  Replay(const TraceContents& contents, const std::vector<RecordedLaunch>& launches,
         const TraceCosts& costs, Setting setting, std::optional<Policy> policy)
      : contents_(contents), launches_(launches), costs_(costs), setting_(std::move(setting)),
        policy_(std::move(policy)) {
    for (const RecordedLaunch& launch : launches)
      if (launch.launch && launch.dimension)
        dimensions_.try_emplace(TraceCosts::keyOf(launch, contents), *launch.dimension);
  }

  Replayed run() {
    struct Step {
      double at = 0;
      std::function<void()> take;
    };
    std::vector<Step> steps;
    result_.launches.resize(launches_.size());
    for (std::size_t i = 0; i < launches_.size(); ++i)
      steps.push_back({contents_.calls[launches_[i].call].begin, [this, i] { replay(i); }});
    for (const TraceCall& call : contents_.calls)
      if (call.kernel.empty() && !call.uses.empty())
        steps.push_back({call.begin, [this, &call] { command(call); }});
    for (const TraceNativeWrite& write : contents_.nativeWrites)
      steps.push_back(
          {write.at, [this, &write] {
             for (const TraceUse& use : write.uses)
               bufferOf(use.buffer).directory.wrote(home().node, ByteSet(use.begin, use.end));
           }});
    std::ranges::stable_sort(steps, {}, &Step::at);
    for (const Step& step : steps)
      step.take();
    return std::move(result_);
  }

private:
  struct BufferState {
    Directory directory;
    Readers readers;
  };
  struct History {
    std::unique_ptr<ShareController> controller;
    std::optional<unsigned> dimension;
    std::uint64_t splits = 0;
    std::uint64_t launches = 0;
    bool isSplit = false; ///< as LaunchHistory's
  };
  /// A launch as the planner is asked about it.
  struct Asked {
    LaunchRequest request;
    std::vector<PlanDevice> devices;
    std::vector<std::uint64_t> buffers; ///< the trace's numbers
    const TraceCosts::Load* load = nullptr;
  };
  /// A dimension, and how many groups of it each member gets. None: home has them all.
  using Cut = std::pair<unsigned, std::vector<std::uint64_t>>;
  static constexpr std::uint64_t knownSplits = 3; // as in the runtime

  const Member& home() const { return setting_.members[setting_.home]; }

  BufferState& bufferOf(std::uint64_t number) {
    const auto found = buffers_.find(number);
    if (found != buffers_.end())
      return found->second;
    return buffers_
        .emplace(number, BufferState{Directory(setting_.nodes, home().node, sizeOf(number)), {}})
        .first->second;
  }

  void replay(std::size_t index) {
    try {
      result_.launches[index] = launch(launches_[index]);
    } catch (const Unknown& unknown) {
      result_.launches[index].unknown = unknown.why;
    }
  }

  const KernelSummary* summaryOf(std::uint64_t code, std::size_t device) {
    const auto found = contents_.kernels.find(code);
    if (found == contents_.kernels.end() || device >= found->second.summaries.size() ||
        found->second.summaries[device].empty())
      return nullptr;
    auto& parsed = summaries_[found->second.summaries[device]];
    if (!parsed) {
      parsed = parseProgramSummary(found->second.summaries[device]);
      if (!parsed || parsed->kernels.empty())
        throw Unknown{"what the trace has of its analysis is of another version"};
    }
    return &parsed->kernels.front();
  }

  const Asked& ask(const RecordedLaunch& launch) {
    const auto known = asked_.find(launch.launch);
    return known != asked_.end() ? known->second
                                 : asked_.emplace(launch.launch, askAnew(launch)).first->second;
  }

  Asked askAnew(const RecordedLaunch& launch) {
    if (!launch.launch)
      throw Unknown{contents_.version < 2
                        ? "the trace is of an older version, and does not say what was launched"
                        : "it was not analysed when it ran"};
    const TraceLaunch& told = *launch.launch;
    Asked asked;
    asked.request.range = told.ndrange;
    asked.request.arguments.resize(told.values.size());
    for (std::size_t i = 0; i < told.values.size(); ++i)
      asked.request.arguments[i].bytes = told.values[i];
    for (const TraceLaunch::Buffer& buffer : told.buffers) {
      if (buffer.parameter >= told.values.size())
        throw Unknown{"the trace's description of it is damaged"};
      auto found = std::ranges::find(asked.buffers, buffer.buffer);
      const auto number = static_cast<std::size_t>(found - asked.buffers.begin());
      if (found == asked.buffers.end())
        asked.buffers.push_back(buffer.buffer);
      asked.request.buffers.push_back({buffer.parameter, number, buffer.origin});
      asked.request.arguments[buffer.parameter].bufferSize = buffer.size;
    }
    asked.request.bufferCount = asked.buffers.size();
    for (const Member& member : setting_.members) {
      const KernelSummary* summary = summaryOf(told.code, member.source);
      if (summary && summary->parameters.size() != told.values.size())
        throw Unknown{"the trace's description of it is damaged"};
      asked.devices.push_back({member.node, summary, contents_.known[member.source].isGpu});
    }
    asked.load = costs_.load(TraceCosts::keyOf(launch, contents_));
    if (!asked.load)
      throw Unknown{"no launch of it was timed"};
    return asked;
  }

  bool isKnown(const Asked& asked, std::size_t member) const {
    return std::isfinite(asked.load->profile.whole[setting_.members[member].source]);
  }

  /// Seconds of groups [begin, end) on a member.
  double compute(const Asked& asked, std::size_t member, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t groups) {
    if (begin == end)
      return 0;
    const Member& of = setting_.members[member];
    if (!isKnown(asked, member))
      throw Unknown{"it never ran on " + of.label};
    const double part = static_cast<double>(end - begin) / static_cast<double>(groups);
    if (asked.load->isInferred[of.source])
      note(of.label +
           " never ran such a launch: how fast it is comes from launches of other sizes.");
    else if (part > 1.05 * asked.load->mostRun[of.source] + 1e-9)
      result_.extended.insert(of.label);
    return asked.load->profile.seconds(of.source,
                                       static_cast<double>(begin) / static_cast<double>(groups),
                                       static_cast<double>(end) / static_cast<double>(groups));
  }

  void note(const std::string& text) {
    if (std::ranges::find(result_.notes, text) == result_.notes.end())
      result_.notes.push_back(text);
  }

  /// Adds what the move takes to its two ends.
  void move(const Move& move, std::vector<double>& seconds, std::uint64_t& bytes) {
    const std::uint64_t size = move.bytes.size();
    bytes += size;
    for (const bool arrives : {false, true}) {
      const NodeId node = arrives ? move.to : move.from;
      if (node == hostNode)
        continue;
      const std::size_t member = setting_.memberOf(node);
      const Member& of = setting_.members[member];
      const TraceCosts::Link& link = of.links[of.links[arrives].isKnown ? arrives : !arrives];
      if (!link.isKnown)
        throw Unknown{"no copy to or from " + of.label +
                      " was recorded; --link says what one takes"};
      if (!of.links[arrives].isKnown)
        note(std::string("No copy ") + (arrives ? "to " : "from ") + of.label +
             " was recorded: it is taken to be as fast as the other way.");
      seconds[member] += link.seconds(size);
    }
    const Member& from = setting_.members[home().node == hostNode ? 0 : setting_.home];
    moved_.note(1, size, 2 * from.links[0].seconds(size)); // off one device and onto another
  }

  /// Brings what the pieces need and books what they do; the seconds of each member's moving.
  std::vector<double> bring(const Asked& asked, const std::vector<Piece>& pieces,
                            std::uint64_t& bytes) {
    std::vector<double> seconds(setting_.members.size());
    for (std::size_t b = 0; b < asked.buffers.size(); ++b) {
      BufferState& buffer = bufferOf(asked.buffers[b]);
      std::vector<Directory::Need> needs;
      for (const Piece& piece : pieces) {
        needs.push_back({setting_.members[piece.device].node, &piece.uses[b].needs});
        buffer.readers.wanted(needs.back().node, piece.uses[b].needs);
      }
      for (const Directory::NeededMove& each : buffer.directory.bringAll(needs))
        move(each.move, seconds, bytes);
      for (const Piece& piece : pieces)
        if (!piece.uses[b].writes.empty())
          buffer.directory.wrote(setting_.members[piece.device].node, piece.uses[b].writes);
    }
    return seconds;
  }

  Outcome launch(const RecordedLaunch& recorded) {
    constexpr std::size_t mostPlans = 4096; // shares that drift make ever new ones
    if (plans_.size() > mostPlans)
      plans_.clear();
    const Asked& asked = ask(recorded);
    History& history = histories_[TraceCosts::keyOf(recorded, contents_)];
    if (!policy_)
      return asRecorded(recorded, asked, history);
    if (!history.controller)
      takeControl(recorded, asked, history);
    using Action = ShareController::Action;
    const LaunchCycle::Ruling ruling = rulingOf(recorded, asked, history);
    std::vector<double> shares(ruling.shares.begin(), ruling.shares.end());
    Action action = ruling.mode == LaunchCycle::Mode::Split    ? Action::Split
                    : ruling.mode == LaunchCycle::Mode::AtHome ? Action::Measure
                                                               : Action::Native;
    if (ruling.mode == LaunchCycle::Mode::Waiting &&
        !(history.controller->expectedHomeSeconds() > 0))
      action = Action::Measure;
    if (ruling.mode == LaunchCycle::Mode::Free) {
      const auto decision = history.controller->next(policy_->kind == Policy::Kind::Dynamic);
      action = decision.action;
      shares.assign(decision.shares.begin(), decision.shares.end());
    }
    history.isSplit = action == Action::Split;
    if (action == Action::Chunks) {
      if (std::optional<Outcome> outcome = chunked(asked, history, shares))
        return *outcome;
      history.controller->refuseChunks();
      const auto decision = history.controller->next();
      action = decision.action;
      shares.assign(decision.shares.begin(), decision.shares.end());
    }
    if (action == Action::Native)
      return atHome(asked);
    if (action == Action::Measure)
      shares = alone();
    const auto plan = planOf(asked, shares, history);
    if (!plan)
      return atHome(asked);
    return observed(asked, *plan, history, ruling.ticket);
  }

  std::vector<double> alone() const {
    std::vector<double> shares(setting_.members.size());
    shares[setting_.home] = 1;
    return shares;
  }

  /// Home does it as without libsplit, and nobody hears what it took.
  Outcome atHome(const Asked& asked) {
    const std::uint64_t groups = asked.request.range.groups(0);
    const LaunchPlan* whole = cut(asked, {0, {}});
    Outcome outcome;
    outcome.shares = alone();
    const std::vector<double> moving = bring(asked, whole->pieces, outcome.bytes);
    outcome.seconds =
        compute(asked, setting_.home, 0, groups, groups) + *std::ranges::max_element(moving);
    return outcome;
  }

  /// What the plan's pieces took, each member all of its own one after the other.
  Outcome taken(const Asked& asked, const LaunchPlan& plan,
                std::vector<solver::DeviceSample>& samples) {
    const std::uint64_t groups = asked.request.range.groups(plan.dimension);
    Outcome outcome;
    if (!plan.merges.empty())
      throw Unknown{"what several memories changed is merged, and no model has what that takes"};
    samples.assign(setting_.members.size(), {});
    outcome.shares.assign(setting_.members.size(), 0);
    for (const Piece& piece : plan.pieces) {
      solver::DeviceSample& sample = samples[piece.device];
      sample.groupBegin = piece.box.begin[plan.dimension];
      sample.groupEnd = piece.box.end[plan.dimension];
      sample.seconds = compute(asked, piece.device, sample.groupBegin, sample.groupEnd, groups);
      outcome.shares[piece.device] =
          static_cast<double>(sample.groupEnd - sample.groupBegin) / static_cast<double>(groups);
    }
    const std::vector<double> moving = bring(asked, plan.pieces, outcome.bytes);
    for (std::size_t m = 0; m < samples.size(); ++m) {
      outcome.seconds = std::max(outcome.seconds, samples[m].seconds + moving[m]);
      if (samples[m].groupBegin == samples[m].groupEnd)
        continue;
      samples[m].transferSeconds = moving[m];
      samples[m].seconds += moving[m];
    }
    return outcome;
  }

  Outcome observed(const Asked& asked, const LaunchPlan& plan, History& history,
                   const LaunchCycle::Ticket& ticket) {
    std::vector<solver::DeviceSample> samples;
    Outcome outcome = taken(asked, plan, samples);
    const std::uint64_t groups = asked.request.range.groups(plan.dimension);
    if (ticket.phase != 0)
      cycle_.took(ticket, outcome.seconds);
    if (plan.pieces.size() > 1 || plan.pieces[0].device != setting_.home) {
      ++history.splits;
      history.controller->observeSplit(samples, groups, outcome.seconds);
    } else {
      const solver::DeviceSample& home = samples[setting_.home];
      history.controller->observeHome(home.seconds - home.transferSeconds, groups);
    }
    return outcome;
  }

  Outcome asRecorded(const RecordedLaunch& recorded, const Asked& asked, History& history) {
    if (recorded.parts.empty())
      return atHome(asked);
    if (recorded.hasMerged)
      throw Unknown{"what several memories changed is merged, and no model has what that takes"};
    const std::uint64_t groups = asked.request.range.groups(*recorded.dimension);
    history.dimension = recorded.dimension;
    Outcome outcome;
    outcome.shares.resize(setting_.members.size());
    std::vector<Piece> pieces = cutAsRecorded(recorded, asked, groups);
    const bool wasCut = !pieces.empty();
    std::vector<double> seconds(setting_.members.size());
    for (const Part& part : recorded.parts) {
      if (part.device >= asked.devices.size() || !asked.devices[part.device].summary)
        throw Unknown{"the trace's description of it is damaged"};
      if (!wasCut)
        pieces.push_back(planPiece(asked.request, asked.devices, part.device, *recorded.dimension,
                                   part.begin, part.end));
      seconds[part.device] += compute(asked, part.device, part.begin, part.end, groups);
      outcome.shares[part.device] +=
          static_cast<double>(part.end - part.begin) / static_cast<double>(groups);
    }
    const std::vector<double> moving = bring(asked, pieces, outcome.bytes);
    for (std::size_t m = 0; m < seconds.size(); ++m)
      outcome.seconds = std::max(outcome.seconds, seconds[m] + moving[m]);
    return outcome;
  }

  /// The pieces as the planner cuts them; none if the launch was given out in chunks.
  std::vector<Piece> cutAsRecorded(const RecordedLaunch& recorded, const Asked& asked,
                                   std::uint64_t groups) {
    std::vector<Part> parts = recorded.parts;
    std::ranges::sort(parts, {}, &Part::begin);
    std::vector<std::uint64_t> counts(asked.devices.size());
    std::uint64_t end = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (parts[p].device >= counts.size() || parts[p].begin != end || parts[p].end > groups ||
          (p > 0 && parts[p].device < parts[p - 1].device))
        return {};
      end = parts[p].end;
      counts[parts[p].device] += parts[p].end - parts[p].begin;
    }
    if (end != groups)
      return {};
    const LaunchPlan* plan = cut(asked, {*recorded.dimension, counts});
    return plan && plan->merges.empty() ? plan->pieces : std::vector<Piece>();
  }

  /// Chunk by chunk, whoever is free first.
  std::optional<Outcome> chunked(const Asked& asked, History& history,
                                 const std::vector<double>& speeds) {
    std::vector<double> uniform;
    for (std::size_t m = 0; m < setting_.members.size(); ++m)
      uniform.push_back(history.controller->canUse(m) ? 1 : 0);
    const auto whole = planOf(asked, uniform, history);
    if (!whole || whole->rung > Rung::Possible || whole->pieces.size() < 2)
      return std::nullopt;
    const std::uint64_t groups = asked.request.range.groups(whole->dimension);
    std::vector<double> hints;
    for (const Piece& piece : whole->pieces)
      hints.push_back(speeds[piece.device]);
    solver::ChunkPlan plan(static_cast<unsigned>(hints.size()));
    plan.begin(groups, 1, hints);
    std::vector<double> until(hints.size());
    std::vector<bool> isOver(hints.size());
    std::vector<solver::ChunkSample> samples;
    Outcome outcome;
    outcome.shares.resize(setting_.members.size());
    while (std::ranges::find(isOver, false) != isOver.end()) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < until.size(); ++i)
        if (isOver[next] || (!isOver[i] && until[i] < until[next]))
          next = i;
      const auto range = plan.next(static_cast<unsigned>(next));
      isOver[next] = range.empty();
      if (range.empty())
        continue;
      const std::size_t member = whole->pieces[next].device;
      const Piece piece =
          planPiece(asked.request, asked.devices, member, whole->dimension, range.begin, range.end);
      const double moving = bring(asked, {piece}, outcome.bytes)[member];
      const double running = compute(asked, member, range.begin, range.end, groups);
      plan.finish(static_cast<unsigned>(next), range, running + moving);
      until[next] += running + moving;
      samples.push_back({static_cast<unsigned>(member), range.begin, range.end, running});
      outcome.shares[member] += static_cast<double>(range.size()) / static_cast<double>(groups);
    }
    outcome.seconds = *std::ranges::max_element(until);
    ++history.splits;
    history.controller->observeChunks(samples, groups);
    return outcome;
  }

  /// The planner's answer, which is remembered; null: it can't be cut so. Valid until the next
  /// launch.
  const LaunchPlan* cut(const Asked& asked, const Cut& how) {
    const auto [known, isNew] = plans_.try_emplace({&asked, how});
    if (!isNew)
      return known->second ? &*known->second : nullptr;
    if (how.second.empty()) {
      LaunchPlan plan;
      plan.pieces.push_back(
          planPiece(asked.request, asked.devices, setting_.home, wholeBox(asked.request.range)));
      known->second = std::move(plan);
    } else {
      PlanResult result = planCut(asked.request, asked.devices, how.first, how.second);
      if (auto* plan = std::get_if<LaunchPlan>(&result))
        known->second = std::move(*plan);
    }
    return known->second ? &*known->second : nullptr;
  }

  /// Along the dimension of the trace, else the one that works without merging.
  const LaunchPlan* planOf(const Asked& asked, const std::vector<double>& shares,
                           History& history) {
    const LaunchPlan* best = nullptr;
    auto consider = [&](unsigned dimension) {
      const std::uint64_t groups = asked.request.range.groups(dimension);
      if (groups < 2 && (dimension > 0 || asked.request.range.groups() > 1))
        return;
      const LaunchPlan* plan = cut(asked, {dimension, solver::roundToGroups(shares, groups)});
      if (plan && (!best || plan->merges.size() < best->merges.size()))
        best = plan;
    };
    if (history.dimension) {
      consider(*history.dimension);
    } else {
      for (unsigned d = asked.request.range.dimensions; d-- > 0;)
        consider(d);
      if (best)
        history.dimension = best->dimension;
    }
    return best;
  }

  void takeControl(const RecordedLaunch& recorded, const Asked& asked, History& history) {
    const auto dimension = dimensions_.find(TraceCosts::keyOf(recorded, contents_));
    if (dimension != dimensions_.end())
      history.dimension = dimension->second;
    ShareController::Setup setup;
    setup.policy = *policy_;
    setup.home = setting_.home;
    setup.minLaunchSeconds = contents_.minLaunchSeconds;
    const bool isFixed =
        policy_->kind == Policy::Kind::Static || policy_->kind == Policy::Kind::Single;
    const TraceDevice& home = contents_.known[setting_.members[setting_.home].source];
    for (std::size_t m = 0; m < setting_.members.size(); ++m) {
      const Member& member = setting_.members[m];
      const TraceDevice& device = contents_.known[member.source];
      const bool canRun = member.participates && asked.devices[m].summary;
      if (canRun && !isFixed && !isKnown(asked, m))
        note(contents_.calls[recorded.call].kernel + " never ran on " + member.label +
             ", so that it gets no part of it here.");
      setup.speeds.push_back(canRun && (isFixed || isKnown(asked, m))
                                 ? guessedSpeed(device.isGpu, device.computeUnits, device.megahertz)
                                 : 0);
      setup.likeHome.push_back(device.isGpu == home.isGpu &&
                               device.computeUnits == home.computeUnits &&
                               device.megahertz == home.megahertz);
    }
    if (setting_.nodes > 1)
      for (const std::uint64_t buffer : asked.buffers)
        setup.movingSeconds += moved_.seconds(sizeOf(buffer));
    history.controller = std::make_unique<ShareController>(std::move(setup));
  }

  LaunchCycle::Ruling rulingOf(const RecordedLaunch& recorded, const Asked& asked,
                               History& history) {
    if (policy_->kind != Policy::Kind::Auto || setting_.nodes < 2)
      return {};
    const TraceLaunch& told = *recorded.launch;
    std::size_t id = std::hash<std::string>()(told.range + "/" + told.classes);
    auto mix = [&](std::size_t value) { id = id * 0x9E3779B97F4A7C15 + value; };
    mix(told.code);
    for (const TraceLaunch::Buffer& buffer : told.buffers) {
      mix(buffer.buffer);
      mix(buffer.origin);
    }
    const unsigned dimension = history.dimension.value_or(0);
    const std::uint64_t groups = asked.request.range.groups(dimension);
    LaunchCycle::Passing passing;
    passing.id = id;
    passing.isKnown = history.dimension && history.splits >= knownSplits;
    passing.secondsPerByte = moved_.perByte();
    passing.home = setting_.home;
    passing.own = [&] { return history.controller->split().shares; };
    passing.profile = [&](solver::LoadProfile& profile) {
      return history.controller->describe(profile, groups);
    };
    passing.section = [&] {
      const double half = LaunchCycle::sectionPart / 2 * static_cast<double>(groups);
      const auto begin = static_cast<std::uint64_t>(static_cast<double>(groups) / 2 - half);
      const auto end =
          std::max(begin + 1, static_cast<std::uint64_t>(static_cast<double>(groups) / 2 + half));
      const Piece piece = planPiece(asked.request, asked.devices, setting_.home, dimension, begin,
                                    std::min(end, groups));
      std::vector<SectionUse> uses;
      for (std::size_t b = 0; b < asked.buffers.size(); ++b)
        uses.push_back({&bufferOf(asked.buffers[b]), piece.uses[b].needs, piece.uses[b].writes});
      return uses;
    };
    std::uint64_t bytes = 0;
    for (const std::uint64_t buffer : asked.buffers)
      bytes += sizeOf(buffer);
    const double known = history.controller->expectedHomeSeconds();
    passing.homeSeconds = known;
    passing.isFree = !(known > 0) || known > 2 * moved_.seconds(bytes);
    passing.isSplit = history.isSplit;
    passing.kind = &history;
    passing.toCome = ++history.launches;
    passed_[id] = {&asked, &history};
    if (usual_[id].cameWith(between_.take()))
      outlooks_.clear();
    passing.outlook = [&](std::span<const std::uint64_t> ids) { return outlookOf(ids); };
    return cycle_.next(passing);
  }

  /// As the runtime works it out (session/outlooks.h), but at once.
  const Outlook* outlookOf(std::span<const std::uint64_t> ids) {
    if (!std::ranges::all_of(ids, [&](std::uint64_t id) { return usual_[id].isKnown(); }))
      return nullptr;
    const auto [made, isNew] = outlooks_.try_emplace({ids.begin(), ids.end()});
    if (!isNew)
      return &made->second;
    std::vector<OutlookStep> steps;
    for (const std::uint64_t id : ids) {
      const auto& [asked, history] = passed_.at(id);
      OutlookStep& step = steps.emplace_back();
      step.request = asked->request;
      step.devices = asked->devices;
      step.speeds = history->controller->expectedSpeeds();
      step.homeSeconds = history->controller->expectedHomeSeconds();
      step.dimension = history->dimension;
      step.before = usual_[id].commands();
      for (const std::uint64_t buffer : asked->buffers) {
        step.buffers.push_back(&bufferOf(buffer));
        step.sizes.push_back(sizeOf(buffer));
      }
    }
    const OutlookMachine machine{
        .nodes = setting_.nodes,
        .home = setting_.home,
        .homeNode = home().node,
        .secondsPerByte = moved_.perByteOrGuess(),
        .secondsPerHomeByte = moved_.perByteToHome(),
        .secondsPerMove = moved_.perMove(),
        .secondsPerSplit = SplitCost().seconds() // no model has what it takes
    };
    made->second = *lookAhead(steps, machine, [] { return true; });
    return &made->second;
  }

  std::uint64_t sizeOf(std::uint64_t buffer) const {
    const auto found = contents_.buffers.find(buffer);
    return found == contents_.buffers.end() ? 0 : found->second;
  }

  /// What other commands move. What they do at home they do in any case.
  void command(const TraceCall& call) {
    std::vector<double> seconds(setting_.members.size());
    std::uint64_t bytes = 0;
    try {
      for (const TraceUse& use : call.uses) {
        BufferState& buffer = bufferOf(use.buffer);
        const ByteSet wanted(use.begin, use.end);
        between_.note(&buffer, kindOf(call, use), {use.begin, use.end});
        if (!use.writes)
          read(call, buffer, wanted, seconds, bytes);
        else if (call.name == "clEnqueueWriteBuffer")
          write(buffer, wanted, seconds, bytes);
        else
          buffer.directory.wrote(home().node, wanted);
      }
    } catch (const Unknown& unknown) {
      result_.unknownCommand = unknown.why;
    }
    result_.commandSeconds += seconds.empty() ? 0 : *std::ranges::max_element(seconds);
  }

  static ProgramCommand::Kind kindOf(const TraceCall& call, const TraceUse& use) {
    using Kind = ProgramCommand::Kind;
    if (use.writes)
      return call.name == "clEnqueueWriteBuffer" ? Kind::Write : Kind::HomeWrites;
    return call.name == "clEnqueueReadBuffer" ? Kind::Read : Kind::HomeReads;
  }

  void read(const TraceCall& call, BufferState& buffer, const ByteSet& wanted,
            std::vector<double>& seconds, std::uint64_t& bytes) {
    if (call.name != "clEnqueueReadBuffer") {
      const std::vector<Directory::Need> needs{{home().node, &wanted}};
      for (const Directory::NeededMove& each : buffer.directory.bringAll(needs))
        move(each.move, seconds, bytes);
      return;
    }
    for (Directory::Part& part : buffer.directory.sources(home().node, wanted))
      if (part.node != hostNode || home().node == hostNode)
        move({part.node, hostNode, std::move(part.bytes)}, seconds, bytes);
  }

  void write(BufferState& buffer, const ByteSet& written, std::vector<double>& seconds,
             std::uint64_t& bytes) {
    constexpr std::uint64_t worthIt = std::uint64_t{1} << 16; // as in the runtime
    buffer.readers.programWrites();
    auto parts = buffer.readers.shareOut(written, home().node);
    const bool isReadElsewhere = setting_.nodes > 1 && home().node != hostNode &&
                                 std::ranges::any_of(parts, [&](const auto& part) {
                                   return part.first != home().node && part.first != hostNode &&
                                          part.second.size() >= worthIt;
                                 });
    if (!isReadElsewhere)
      parts = {{home().node, written}};
    ByteSet done;
    for (const auto& [node, part] : parts) {
      const NodeId at = node == hostNode ? home().node : node;
      move({hostNode, at, part}, seconds, bytes);
      buffer.directory.wrote(at, subtract(part, done));
      buffer.directory.confirm(at, intersect(part, done));
      done.uniteWith(part);
    }
  }

  const TraceContents& contents_;
  const std::vector<RecordedLaunch>& launches_;
  const TraceCosts& costs_;
  Setting setting_;
  std::optional<Policy> policy_;
  std::map<TraceCosts::Key, unsigned> dimensions_;
  std::map<TraceCosts::Key, History> histories_;
  std::map<std::uint64_t, BufferState> buffers_;
  std::map<const TraceLaunch*, Asked> asked_;
  std::map<std::pair<const Asked*, Cut>, std::optional<LaunchPlan>> plans_;
  std::map<std::string, std::optional<ProgramSummary>> summaries_; ///< by text
  LaunchCycle cycle_;
  /// By id of the cycle, the last launch that had it.
  std::map<std::uint64_t, std::pair<const Asked*, const History*>> passed_;
  BetweenLaunches between_;
  std::map<std::uint64_t, UsualCommands> usual_; ///< by id of the cycle
  std::map<std::vector<std::uint64_t>, Outlook> outlooks_;
  MovingRate moved_;
  Replayed result_;
};

} // namespace

Replayed replay(const TraceContents& contents, const std::vector<RecordedLaunch>& launches,
                const TraceCosts& costs, const Setting& setting,
                const std::optional<Policy>& policy) {
  return Replay(contents, launches, costs, setting, policy).run();
}

} // namespace libsplit::tools
