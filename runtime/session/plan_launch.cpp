// Whether and how a launch is split: shares from its history's controller, a plan from the planner.
//
// The plan is kept with the history and used again as long as nothing that it was made from has
// changed. Where a dimension of the NDRange does not work another one is tried.
#include "runtime/session/launch_planner.h"

#include "runtime/core/log.h"
#include "runtime/cost/known_speeds.h"
#include "runtime/cost/launch_id.h"
#include "runtime/plan/boundary.h"
#include "runtime/session/splittable.h"

#include "solver/share_solver.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

namespace libsplit::runtime {

namespace {

/// While a kernel's shares are still being found, its launches are measured one at a time, unless a
/// cycle says what they are.
constexpr std::uint64_t learningSplits = 6;
/// … after which a launch's load and regions are known well enough to judge a cycle by.
constexpr std::uint64_t knownSplits = 3;

/// Why one goes home whose plan was too large to be kept.
constexpr const char* planningCosts = "to plan it would take longer than it is worth";

/// A launch of one work-group goes to another device only if that seems so much faster.
constexpr double muchFaster = 2;

/// The same for launches of one kernel, key and set of buffers.
std::uint64_t idOf(const Launch& launch) {
  LaunchId id(launch.code.get());
  id.mix(std::hash<std::string>()(launch.key.range));
  for (int each : launch.key.classes)
    id.mix(static_cast<std::size_t>(each));
  for (const BufferArgument& argument : launch.request.buffers) {
    id.mix(launch.buffers[argument.buffer].get());
    id.mix(argument.origin);
  }
  return id.value();
}

/// Of all its buffers.
std::uint64_t bytesOf(const Launch& launch) {
  std::uint64_t bytes = 0;
  for (const auto& buffer : launch.buffers)
    bytes += buffer->size();
  return bytes;
}

std::vector<const Directory*> directoriesOf(const Launch& launch) {
  std::vector<const Directory*> directories;
  for (const auto& buffer : launch.buffers)
    directories.push_back(&buffer->directory());
  return directories;
}

/// Launches that are still to come after the first `soFar`, where there were `before` in an earlier
/// run: the rest of these, else as many again.
std::uint64_t toCome(std::uint64_t before, std::uint64_t soFar) {
  return before > soFar ? before - soFar : soFar;
}

/// Launches that the last run had of such as there were `alike` of so far in this one, if none was
/// split then; 0: nobody knows.
std::uint64_t launchesBefore(const Program& program, const KernelCode& code, std::uint64_t alike) {
  const auto& kernels = program.build->earlierKernels;
  const auto all = kernels.find(code.name);
  const std::uint64_t soFar = code.stats->launches;
  if (all == kernels.end() || soFar == 0)
    return 0;
  // A program that is made anew counts its launches from one.
  const double part = std::min(1.0, static_cast<double>(alike) / static_cast<double>(soFar));
  return static_cast<std::uint64_t>(static_cast<double>(all->second.launches) * part);
}

} // namespace

/// What it may take to move all that the launch needs to another memory.
double LaunchPlanner::movingSeconds(const Launch& launch) const {
  if (machine_->nodes() < 2)
    return 0;
  return shared_.moving.seconds(bytesOf(launch));
}

/// Makes the history's controller.
void LaunchPlanner::takeControl(const Launch& launch, LaunchHistory& history) {
  ShareController::Setup setup;
  setup.policy = options_.policy;
  setup.home = machine_->home();
  setup.minLaunchSeconds = shared_.shortestLaunch(true);
  setup.tellsWaits = machine_->homeDevice().returnsAtOnce;
  setup.minChunkedSeconds = ChunkedLaunches::leastSeconds;
  history.lacksRoom.resize(machine_->devices().size());
  const auto items = static_cast<double>(itemsOf(launch.range));
  // Shares that the user has set need no knowledge.
  if (setup.policy.kind != Policy::Kind::Static && setup.policy.kind != Policy::Kind::Single)
    setup.prior = knownSpeeds_->prior(launch.code->identity, launch.key, items);
  if (launch.key.classes.empty()) // else they may have been other launches
    setup.timedAtHome = launch.code->times.secondsOf(itemsOf(launch.range));
  rehearsals_.settle(launch, history, setup.prior);
  for (std::size_t i = 0; i < machine_->devices().size(); ++i) {
    const Device& device = machine_->devices()[i];
    setup.speeds.push_back(rehearsals_.canTakePart(i, launch, history) ? guessedSpeedOf(device)
                                                                       : 0);
    setup.likeHome.push_back(isAlike(device, machine_->homeDevice()));
    setup.hasRehearsed.push_back(history.rehearsals[i].rate() > 0);
  }
  for (unsigned d = 0; d < launch.range.dimensions; ++d)
    setup.groups = std::max(setup.groups, launch.range.groups(d));
  setup.movingSeconds = movingSeconds(launch);
  setup.aloneOnce = ahead_.aloneOnce(launch);
  const double native = setup.timedAtHome;
  history.controller = std::make_unique<ShareController>(std::move(setup));
  history.learning = {};
  history.base = launch.range;
  history.record = knownSpeeds_->record(launch.code->identity, launch.key, items);
  if (native > 0)
    history.record->nativeSeconds = native;
  // Those before the kernel was ready count as well, if all seem to be like this one.
  if (history.record->launchesNow == 0 && launch.code->histories.size() == 1 &&
      launch.code->times.isOfOneSize())
    history.record->launchesNow = launch.code->stats->launches - 1; // this one is counted later
}

/// Whether other launches of the kernel showed another device to be much faster than home.
bool LaunchPlanner::isFasterElsewhere(const Launch& launch) const {
  using From = ShareController::Prior::From;
  const ShareController::Prior prior = knownSpeeds_->prior(
      launch.code->identity, launch.key, static_cast<double>(itemsOf(launch.range)));
  if (prior.from != From::OtherLaunches && prior.from != From::SameLaunch)
    return false;
  const double home = prior.speeds[machine_->home()];
  return std::any_of(prior.speeds.begin(), prior.speeds.end(),
                     [&](double speed) { return speed > muchFaster * home; });
}

/// Whether a device joins that the controller knows nothing of.
bool LaunchPlanner::hasNewcomer(const Launch& launch, LaunchHistory& history) {
  for (std::size_t i = 0; i < history.rehearsals.size(); ++i)
    if (history.rehearsals[i].joins() && !history.controller->canUse(i) &&
        rehearsals_.canTakePart(i, launch, history))
      return true;
  return false;
}

void LaunchPlanner::decide(Stream& stream, Launch& launch) {
  LaunchHistory& history = launch.code->histories.at(launch.key);
  if (!history.controller) {
    if (launch.range.groups() < 2 && options_.policy.kind == Policy::Kind::Auto &&
        !isFasterElsewhere(launch))
      return adopt(launch, {ShareController::Action::Native, {}});
    takeControl(launch, history);
  } else if (hasNewcomer(launch, history)) {
    takeControl(launch, history);
  }
  if (ahead_.holdsBack(launch, history)) {
    (history.compiled.done->hasFailed() ? launch.isBeyondDriver : launch.isHeldBack) = true;
    return adopt(launch, {ShareController::Action::Native, {}});
  }
  // What looks through its buffers is built while nothing waits for it.
  if (!launch.code->elements.empty() && history.controller->expectedHomeSeconds() > 0 &&
      !isShort(launch))
    contentsFetcher_.expect(launch);
  using Action = ShareController::Action;
  const LaunchCycle::Ruling ruling = rulingOf(stream, launch, history);
  launch.ticket = ruling.ticket;
  switch (ruling.mode) {
  case LaunchCycle::Mode::Free:
    adopt(launch, history.controller->next(
                      chunks_.canBegin(launch) && !ahead_.forbidsChunks(launch, history),
                      history.isSplit || observer_.mayTry(stream, *history.controller)));
    launch.isTrial = launch.action != Action::Native && history.controller->isOnTrial();
    break;
  case LaunchCycle::Mode::Split:
    adopt(launch, {Action::Split, ruling.shares});
    break;
  case LaunchCycle::Mode::AtHome:
    adopt(launch, {Action::Measure, {}});
    break;
  case LaunchCycle::Mode::Native:
    adopt(launch, {Action::Native, {}});
    break;
  case LaunchCycle::Mode::Waiting:
    launch.isWaiting = true;
    // Timed ever more rarely, by which it is also seen whether the program waits for it. What is
    // timed holds up what comes behind it, of many kinds of launches perhaps.
    const bool isDue = ++history.waiting >= history.nextTimed && observer_.mayHoldUp(stream);
    const bool isTimed = isDue || history.controller->expectedHomeSeconds() <= 0;
    if (isTimed)
      history.nextTimed = 2 * history.waiting;
    if (ruling.sends && prefetcher_.look(stream, launch, *ruling.sends)) {
      ++stream.prefetch.tries;
      launch.sends = std::make_unique<const Outlook::Step>(*ruling.sends);
    }
    adopt(launch, {isTimed || launch.sends ? Action::Measure : Action::Native, {}});
    break;
  }
  shapes_.decide(launch, observer_.mayHoldUp(stream));
  const bool isTimedAtHome =
      launch.action == Action::Measure && ruling.mode == LaunchCycle::Mode::Free;
  history.isSplit = launch.action == Action::Split || (history.isSplit && isTimedAtHome);
}

void LaunchPlanner::adopt(Launch& launch, const ShareController::Decision& decision) {
  launch.action = decision.action;
  launch.shares.assign(decision.shares.begin(), decision.shares.end());
}

/// Decides anew, without the device that has no room for the launch's buffers: it takes no part in
/// launches of this kind any more. False if that leaves nothing to split over.
bool LaunchPlanner::decideWithout(std::size_t device, Launch& launch) {
  LaunchHistory& history = launch.code->histories.at(launch.key);
  history.lacksRoom.resize(machine_->devices().size());
  if (device == machine_->home() || history.lacksRoom[device])
    return false;
  log(LogLevel::Info, "kernel ", launch.code->name, " is split without device ",
      machine_->devices()[device].label);
  history.lacksRoom[device] = true;
  takeControl(launch, history);
  adopt(launch, history.controller->next(chunks_.canBegin(launch) &&
                                         !ahead_.forbidsChunks(launch, history)));
  return launch.action != ShareController::Action::Native;
}

/// Plans the launch as it was decided. Why that can't be done, if not.
std::string LaunchPlanner::planAsDecided(Task& task, const std::shared_ptr<Launch>& launch) {
  if (launch->action == ShareController::Action::Chunks) {
    std::string why = planChunks(task, launch);
    if (why.empty() || task.mustBePlannedAgain() || launch->lacksRoom)
      return why;
    log(LogLevel::Debug, "kernel ", launch->code->name, ": not in chunks: ", why);
    // A launch that was parked for long may find its history gone.
    if (auto& controller = launch->code->histories.at(launch->key).controller) {
      controller->refuseChunks();
      adopt(*launch, controller->next());
    } else {
      launch->action = ShareController::Action::Native;
    }
  }
  return launch->action == ShareController::Action::Native ? launch->whyNative()
                                                           : planSplit(task, launch);
}

/// Plans the whole of the launch, and begins to give it out in chunks. Why not, if it can't be.
std::string LaunchPlanner::planChunks(Task& task, const std::shared_ptr<Launch>& launch) {
  if (std::string why = nativeWork_.engage(task, *launch);
      !why.empty() || task.mustBePlannedAgain())
    return why;
  const LaunchHistory& history = launch->code->histories.at(launch->key);
  if (!history.controller)
    return "its history is gone"; // it was parked for long
  std::string why;
  auto whole = planOrFetch(task, launch, chunks_.sharesOfAll(*launch, *history.controller), why);
  return whole ? chunks_.begin(task, launch, whole) : why;
}

void LaunchPlanner::plan(Task& task, const std::shared_ptr<Launch>& launch) {
  const auto began = TrialBudget::Clock::now();
  std::string why = shared_.steppingAside ? shared_.stats.steppedAside : launch->reason;
  if (why.empty() && shared_.ending && !launch->action)
    why = "the program ends";
  // Behind others it is decided about only now: by what became of these.
  if (why.empty() && !launch->action &&
      rests(*task.stream, *launch->code, launch->range, launch->localGiven, began)) {
    launch->reason = why = tooShortToLookAt;
    if (canLookAhead() && outlooks_.isWatching())
      launch->passing = outlooks_.noteNative(*launch);
  }
  if (const auto passing = std::exchange(launch->passing, std::nullopt))
    passNative(*task.stream, *launch->program, *launch->code, *passing);
  if (why.empty()) {
    if (!launch->action)
      decide(*task.stream, *launch);
    do
      why = planAsDecided(task, launch);
    while (launch->lacksRoom && decideWithout(*std::exchange(launch->lacksRoom, {}), *launch));
  }
  if (task.mustBePlannedAgain())
    return;
  ++launch->code->stats->of(launch->key.range).launches;
  if (!launch->isChunked)
    observer_.passes(*task.stream, why.empty() && launch->wasSplit);
  if (why.empty())
    return;
  LaunchObserver::countUnsplit(task, *launch, why);
  launch->wasSplit = false;
  if (launch->action == ShareController::Action::Split)
    launch->code->histories.at(launch->key).isSplit = false; // it was to be, and can't
  log(LogLevel::Debug, "kernel ", launch->code->name, " runs unsplit: ", why);
  planUnsplit(task, launch);
  // A launch that is measured makes tasks of those behind it.
  if (isShort(*launch))
    observer_.spendOnShort(
        *launch, std::chrono::duration<double>(TrialBudget::Clock::now() - began).count());
}

bool LaunchPlanner::isShort(const Launch& launch) const {
  const double home = homeSeconds(launch);
  return home > 0 &&
         home < shared_.shortestLaunch(launch.code->histories.at(launch.key).isWaitedFor);
}

double LaunchPlanner::homeSeconds(const Launch& launch) const {
  const LaunchHistory& history = launch.code->histories.at(launch.key);
  return history.controller ? history.controller->expectedHomeSeconds() : 0;
}

/// What the cycle of launches that it is part of asks of the launch; where nothing moves, it is
/// free.
LaunchCycle::Ruling LaunchPlanner::rulingOf(Stream& stream, const Launch& launch,
                                            LaunchHistory& history) {
  if (options_.policy.kind != Policy::Kind::Auto || machine_->nodes() < 2)
    return {};
  const unsigned dimension = history.dimension.value_or(0);
  const std::uint64_t groups = launch.range.groups(dimension);
  LaunchCycle::Passing passing = onThisMachine();
  passing.id = idOf(launch);
  passing.isKnown = history.dimension && history.splits >= knownSplits;
  passing.gainBefore = history.controller->gainBefore();
  passing.own = [&] { return history.controller->split().shares; };
  passing.profile = [&](solver::LoadProfile& profile) {
    return history.controller->describe(profile, groups);
  };
  passing.section = [&] {
    const double half = LaunchCycle::sectionPart / 2 * static_cast<double>(groups);
    const auto begin = static_cast<std::uint64_t>(static_cast<double>(groups) / 2 - half);
    const auto end =
        std::max(begin + 1, static_cast<std::uint64_t>(static_cast<double>(groups) / 2 + half));
    const Piece piece = planPiece(launch.request, planDevices(launch), machine_->home(), dimension,
                                  begin, std::min(end, groups));
    std::vector<SectionUse> uses;
    for (std::size_t b = 0; b < launch.buffers.size(); ++b)
      uses.push_back({launch.buffers[b].get(), piece.uses[b].needs, piece.uses[b].writes});
    return uses;
  };
  if (canLookAhead()) {
    const double known = history.controller->expectedHomeSeconds();
    passing.homeSeconds = known;
    passing.isFree = !(known > 0) || known > 2 * shared_.moving.seconds(bytesOf(launch));
    passing.isSplit = history.isSplit;
    outlooks_.note(passing.id, launch, history);
    lookAhead(stream, passing);
    SpeedRecord& record = *history.record;
    ++record.launchesNow;
    passing.kind = &record;
    passing.toCome = toCome(record.launches > 0
                                ? record.launches
                                : launchesBefore(*launch.program, *launch.code, record.launchesNow),
                            record.launchesNow);
  }
  return stream.cycle.next(passing);
}

/// What goes for all launches that pass.
LaunchCycle::Passing LaunchPlanner::onThisMachine() {
  LaunchCycle::Passing passing;
  passing.secondsPerByte = shared_.moving.perByte();
  passing.home = machine_->home();
  passing.beside = [this](std::function<void()> work) {
    return outlooks_.workOut(std::move(work));
  };
  return passing;
}

/// Whether it is worked out if launches gain by being split.
bool LaunchPlanner::canLookAhead() const {
  return options_.policy.kind == Policy::Kind::Auto && machine_ && machine_->nodes() > 1 &&
         machine_->homeDevice().participates;
}

void LaunchPlanner::lookAhead(Stream& stream, LaunchCycle::Passing& passing) {
  passing.secondsHeldUp = observer_.secondsHeldUp(stream);
  passing.ahead = [this, &stream] { return prefetcher_.stateOf(stream); };
  passing.outlook = [this](std::span<const std::uint64_t> ids) { return outlooks_.find(ids); };
}

std::optional<std::uint64_t> LaunchPlanner::noteNative(const Kernel& kernel,
                                                       const LaunchArguments& arguments) {
  if (!canLookAhead() || !outlooks_.isWatching() || !isRange(arguments))
    return std::nullopt;
  return outlooks_.noteNative(kernel, arguments);
}

void LaunchPlanner::passNative(Stream& stream, const Program& program, const KernelCode& code,
                               std::uint64_t id) {
  LaunchCycle::Passing passing = onThisMachine();
  passing.id = id;
  passing.isLookedAt = false;
  lookAhead(stream, passing);
  passing.kind = &code;
  const std::uint64_t launches = code.stats->launches;
  passing.toCome = toCome(launchesBefore(program, code, launches), launches);
  stream.cycle.next(passing);
}

bool LaunchPlanner::rests(const Stream& stream, KernelCode& code, const NDRange& range,
                          bool localGiven, TrialBudget::Clock::time_point now) const {
  if (options_.policy.kind != Policy::Kind::Auto ||
      (machine_->nodes() > 1 && observer_.splitsOfLate(stream)))
    return false;
  return code.trials.rests(static_cast<double>(itemsOf(range)), now) &&
         !shapes_.needsParts(code, range, localGiven);
}

std::shared_ptr<const LaunchPlan> LaunchPlanner::choosePlan(const Task& task, Launch& launch,
                                                            std::span<const double> shares,
                                                            std::string& why) {
  LaunchHistory& history = launch.code->histories.at(launch.key);
  launch.demands.clear(); // what an earlier planning lacked; one that is remembered lacks nothing
  launch.inspections.clear();
  PlanKey& key = planKey_;
  describe(launch, key);
  groupsOf(launch.range, shares, key.groups);
  // On one memory nothing depends on regions; at home alone, nothing is cut by them.
  const bool byContents = machine_->nodes() > 1 && !launch.withoutContents &&
                          launch.action != ShareController::Action::Measure;
  for (const BufferArgument& argument : launch.request.buffers)
    if (byContents && launch.code->loaded[argument.parameter])
      key.versions.push_back(launch.buffers[argument.buffer]->directory().version());
  key.withoutInspections = launch.withoutInspections;
  const bool mayKeepShares = options_.policy.kind == Policy::Kind::Auto && key.versions.empty() &&
                             launch.action == ShareController::Action::Split;
  const MadePlan* made = launch.code->plans.find(key);
  if (!made && mayKeepShares && history.planned && !history.planning.affords()) {
    PlanKey before = key;
    before.groups = history.planned->groups;
    made = before == *history.planned ? launch.code->plans.find(before) : nullptr;
    if (!made && before == *history.planned) {
      why = planningCosts; // once more
      return nullptr;
    }
  }
  if (made) {
    why = made->whyNone;
    if (made->plan && made->plan->isCut())
      history.dimension = made->plan->dimension;
    if (!key.versions.empty() && launch.contentsRounds == 0) {
      history.budget.saved();
      history.inspectionBudget.saved();
    }
    return made->plan;
  }
  const auto began = std::chrono::steady_clock::now();
  const std::vector<std::uint64_t> groups = key.groups;
  LaunchContents contents(*machine_, task, launch);
  const Asking asking(launch.request, key.versions.empty() ? nullptr : &contents);

  const std::vector<PlanDevice> devices = planDevices(launch);
  const std::vector<const Directory*> directories = directoriesOf(launch);

  std::shared_ptr<const LaunchPlan> best;
  std::tuple<int, bool, std::uint64_t, unsigned> bestScore;
  auto hasFewGroups = [&](unsigned d) { return launch.range.groups(d) < 8 * devices.size(); };
  auto consider = [&](unsigned d) {
    if (launch.range.groups(d) < 2 && (d > 0 || launch.range.groups() > 1))
      return;
    PlanResult result = planCut(launch.request, devices, d,
                                std::span(groups).subspan(d * devices.size(), devices.size()));
    if (auto* reason = std::get_if<Reason>(&result)) {
      if (why.empty())
        why = toString(*reason);
      return;
    }
    LaunchPlan& plan = std::get<LaunchPlan>(result);
    // Merges only where no dimension does without. Few groups make coarse shares; then what must
    // move; then the slowest dimension, whose slabs are contiguous.
    std::tuple<int, bool, std::uint64_t, unsigned> score{
        plan.merges.empty() ? 0 : static_cast<int>(plan.rung), hasFewGroups(d),
        costOfMoving(plan, devices, directories), 2 - d};
    if (!best || score < bestScore) {
      best = std::make_shared<const LaunchPlan>(std::move(plan));
      bestScore = score;
    }
  };
  // To look at all takes long, and a launch waits for it.
  std::optional<unsigned> usual = history.usualDimension(launch.range.dimensions);
  if (usual)
    consider(*usual);
  if (!best && !history.dimension)
    usual.reset(); // an earlier run's does not work in this one
  if (machine_->nodes() > 1) {
    for (unsigned d = 0; d < launch.range.dimensions && !best; ++d)
      consider(d);
    if (!usual || (best && !best->merges.empty()))
      for (unsigned d = 0; d < launch.range.dimensions; ++d)
        if (!best || best->dimension != d)
          consider(d);
  } else {
    // Nothing moves, and nothing is merged: the first that works is the best.
    for (const bool few : {false, true})
      for (unsigned d = launch.range.dimensions; d-- > 0 && !best;)
        if (hasFewGroups(d) == few)
          consider(d);
  }
  history.planning.spend(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  launch.demands = contents.demands();
  launch.inspections = contents.inspections(/*ofClaims=*/best && !best->merges.empty());
  if (!launch.demands.empty() || !launch.inspections.empty())
    return nullptr;
  if (!best) {
    if (why.empty())
      why = onlyOneGroup;
    launch.code->plans.keep(std::move(key), {nullptr, why});
    return nullptr;
  }
  if (best->isCut())
    history.dimension = best->dimension;
  if (mayKeepShares)
    history.planned = key;
  launch.code->plans.keep(std::move(key), {best, {}});
  return best;
}

/// A plan for home alone that takes no look at regions; null if they matter, since some of what the
/// launch may write is on other nodes, or some of what it may need is not at home.
std::shared_ptr<const LaunchPlan> LaunchPlanner::planAtHome(const Launch& launch) const {
  const NodeId home = machine_->homeDevice().node;
  auto plan = std::make_shared<LaunchPlan>();
  Piece whole{machine_->home(), slab(launch.range, 0, 0, launch.range.groups(0)), {}};
  whole.uses.resize(launch.buffers.size());
  for (const BufferArgument& argument : launch.request.buffers) {
    const Buffer& buffer = *launch.buffers[argument.buffer];
    const ByteSet all(0, buffer.size());
    const Directory::State& state = buffer.directory().state();
    const bool writes = launch.code->writes[argument.parameter];
    for (NodeId node = 0; node < state.size(); ++node)
      if (node == home ? !state[node].contains(all) : writes && !state[node].empty())
        return nullptr;
    whole.uses[argument.buffer].needs = all;
    if (writes)
      whole.uses[argument.buffer].writes = all;
  }
  plan->pieces.push_back(std::move(whole));
  return plan;
}

/// The plan, or null: `why` says why there is none, or the task waits for what planning it takes.
std::shared_ptr<const LaunchPlan> LaunchPlanner::planOrFetch(Task& task,
                                                             const std::shared_ptr<Launch>& launch,
                                                             std::span<const double> shares,
                                                             std::string& why) {
  for (;;) {
    auto plan = choosePlan(task, *launch, shares, why);
    const bool inspects = !launch->inspections.empty();
    if (plan || (launch->demands.empty() && !inspects))
      return plan;
    if ((!inspects || ContentsFetcher::inspectionsPay(*launch)) &&
        contentsFetcher_.fetch(task, launch))
      return nullptr;
    // Then with less.
    (inspects ? launch->withoutInspections : launch->withoutContents) = true;
    why.clear();
  }
}

/// The plan with first what other nodes wait for, if any do.
std::shared_ptr<const LaunchPlan>
LaunchPlanner::boundariesFirstOf(Launch& launch, const std::shared_ptr<const LaunchPlan>& plan) {
  // What departs differs where buffers change places, and by what is urgent of it.
  constexpr std::size_t mostCuts = 8;
  auto& last = launch.code->histories.at(launch.key).boundaries;
  if (last.whole != plan) {
    last = {plan, {}};
    return plan;
  }
  if (!plan->isCut() ||
      std::ranges::none_of(launch.buffers, [](const std::shared_ptr<Buffer>& buffer) {
        return buffer->forecast().mayDepart();
      }))
    return plan;
  Departing departing;
  bool isAny = false;
  for (const Piece& piece : plan->pieces) {
    const Device& device = machine_->devices()[piece.device];
    std::vector<ByteSet>& of = departing.emplace_back(launch.buffers.size());
    for (std::size_t b = 0; b < launch.buffers.size() && device.isGpu; ++b) {
      of[b] = launch.buffers[b]->forecast().departing(device.node);
      isAny = isAny || !of[b].empty();
    }
  }
  if (!isAny)
    return plan;
  for (const auto& [of, cut] : last.cuts)
    if (of == departing)
      return cut;
  if (last.cuts.size() == mostCuts)
    last.cuts.erase(last.cuts.begin());
  auto cut = std::make_shared<const LaunchPlan>(
      boundariesFirst(launch.request, planDevices(launch), *plan, departing));
  last.cuts.emplace_back(std::move(departing), cut);
  return cut;
}

/// The plan with pieces that also run groups of their neighbours, if that is wanted and possible.
std::shared_ptr<const LaunchPlan>
LaunchPlanner::overlappedOf(const Launch& launch, const std::shared_ptr<const LaunchPlan>& plan) {
  if (options_.haloDepth == 0 || !plan->isCut() || shared_.mayHaveLost)
    return plan;
  LaunchHistory& history = launch.code->histories.at(launch.key);
  if (!history.mayOverlap)
    return plan;
  std::vector<Directory*> directories;
  for (const std::shared_ptr<Buffer>& buffer : launch.buffers)
    directories.push_back(&buffer->directory());
  return history.overlaps.extend(launch.request, planDevices(launch), plan, options_.haloDepth,
                                 directories);
}

std::string LaunchPlanner::planSplit(Task& task, const std::shared_ptr<Launch>& launch) {
  if (std::string why = nativeWork_.engage(task, *launch);
      !why.empty() || task.mustBePlannedAgain())
    return why;
  const bool isMeasured = launch->action == ShareController::Action::Measure;
  std::vector<double> atHome;
  if (isMeasured) {
    atHome.resize(machine_->devices().size());
    atHome[machine_->home()] = 1;
  }
  const std::span<const double> shares = isMeasured ? atHome : launch->shares;
  std::string why;
  auto plan = isMeasured ? planAtHome(*launch) : nullptr;
  if (!plan)
    plan = planOrFetch(task, launch, shares, why);
  if (!plan)
    return why;
  const std::shared_ptr<const LaunchPlan> whole = plan;
  if (!isMeasured)
    plan = overlappedOf(*launch, whole);
  why = executor_.reserve(task, *launch, *plan);
  LaunchHistory& history = launch->code->histories.at(launch->key);
  if (plan != whole && launch->lacksRoom) { // for more than its own
    history.mayOverlap = false;
    launch->lacksRoom.reset();
    plan = whole;
    why = executor_.reserve(task, *launch, *plan);
  }
  if (!why.empty() || task.mustBePlannedAgain())
    return why;
  launch->wasSplit = plan->pieces.size() > 1 || plan->pieces[0].device != machine_->home();
  task.learning = !launch->sends && options_.policy.kind != Policy::Kind::Static &&
                  options_.policy.kind != Policy::Kind::Single && launch->ticket.phase == 0 &&
                  history.splits < learningSplits;
  if (launch->wasSplit)
    ++history.splits;
  launch->plan = plan;
  log(LogLevel::Debug, "kernel ", launch->code->name, ": ", [&] { return toString(*plan); });
  rehearsals_.rehearse(task, launch);
  if (!task.stream->timed.next(wantsTimes(task, *launch, history), task.stream->active.size() == 1))
    task.timing = Timing::Off;
  // Where pieces overlap the next launch mostly needs nothing from elsewhere.
  executor_.issue(task, launch, plan == whole ? boundariesFirstOf(*launch, plan) : plan);
  if (launch->sends)
    prefetcher_.send(task, *launch);
  return {};
}

/// Whether somebody is told or learns when its parts were at work.
bool LaunchPlanner::wantsTimes(const Task& task, const Launch& launch,
                               const LaunchHistory& history) const {
  const bool endsOnDevices = launch.plan->merges.empty() && !options_.verify;
  if (launch.shapeTrial || (task.event && task.event->profiled) || shared_.tracer ||
      task.learning || !launch.wasSplit || !endsOnDevices || !history.controller)
    return true;
  return launch.ticket.phase != 0 ? task.stream->cycle.wantsTime(launch.ticket)
                                  : history.controller->wantsTimes();
}

void LaunchPlanner::planUnsplit(Task& task, const std::shared_ptr<Launch>& launch) {
  std::vector<HeldUse> uses;
  const std::vector<bool>& writes = launch->code->writes;
  for (std::size_t i = 0; i < launch->arguments.size(); ++i)
    if (const std::shared_ptr<MemoryObject>& object = launch->objects[i])
      uses.push_back({{nullptr, i >= writes.size() || writes[i]}, object, {}});
  if (launch->code->followsPointers)
    for (HeldUse& each : memory_.hold(memory_.usesOfEngaged())) {
      task.outputs.emplace_back(each.object->buffer, ByteSet()); // which keeps it
      uses.push_back(std::move(each));
    }
  homeCommands_.plan(task, uses, executor_.homeCall(task, *launch));
}

} // namespace libsplit::runtime
