// What a launch took: for its controller, for other launches and later runs, and for the
// statistics.
#include "runtime/session/launch_observer.h"

#include "runtime/core/log.h"
#include "runtime/cost/known_speeds.h"

#include <algorithm>
#include <cmath>

namespace libsplit::runtime {

/// Counts a launch that was a task.
void LaunchObserver::countUnsplit(Task& task, const Launch& launch, const std::string& why) {
  launch.code->stats->of(launch.key.range).countUnsplit(why);
  task.call.reason = why;
}

namespace {

/// Why a launch was planned, and for the home device alone.
const char* whyHomeAlone(const Machine& machine, const Launch& launch,
                         const LaunchHistory& history) {
  bool hasFailed = false, lacksRoom = false;
  for (std::size_t i = 0; i < history.lacksRoom.size(); ++i)
    if (history.lacksRoom[i])
      (machine.devices()[i].failed ? hasFailed : lacksRoom) = true;
  if (lacksRoom)
    return "no other device has room for what it needs";
  if (hasFailed)
    return "the other devices failed";
  if (launch.action == ShareController::Action::Measure)
    return "it was timed on the program's own device";
  return launch.isChunked ? "it turned out to be short"
                          : "its shares leave all to the program's own device";
}

/// Brings what a launch took to the size of the one that its history's controller began with.
class Sizing {
public:
  Sizing(const LaunchHistory& history, const NDRange& range, unsigned dimension) {
    const NDRange& base = history.base ? *history.base : range;
    groups_ = base.groups(dimension);
    groupsRatio_ = static_cast<double>(groups_) / static_cast<double>(range.groups(dimension));
    itemsRatio_ = static_cast<double>(itemsOf(base)) / static_cast<double>(itemsOf(range));
  }

  double seconds(double taken) const { return itemsRatio_ * taken; }
  double taken(double seconds) const { return seconds / itemsRatio_; }
  std::uint64_t groups() const { return groups_; }
  std::uint64_t group(std::uint64_t own) const {
    return static_cast<std::uint64_t>(std::llround(groupsRatio_ * static_cast<double>(own)));
  }

private:
  std::uint64_t groups_ = 0;
  double groupsRatio_ = 1, itemsRatio_ = 1;
};

/// Seconds on the host's clock, since some time in the past.
double secondsAt(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

} // namespace

std::uint64_t LaunchObserver::launches(Stream& stream) {
  const std::uint64_t number = ++stream.launches;
  const auto now = std::chrono::steady_clock::now();
  if (number > 1)
    stream.holdingUp.earn(std::chrono::duration<double>(now - stream.lastCalled).count());
  stream.lastCalled = now;
  if (const std::uint64_t waits = shared_.waits; waits != std::exchange(stream.waits, waits))
    stream.together = std::exchange(stream.sinceWait, 0);
  ++stream.sinceWait;
  countInRound(stream, now);
  if (stream.idle())
    starts(stream, number, now);
  return number;
}

/// The launches before it made a round, if the thread waited since: its cycle hears what that took.
void LaunchObserver::countInRound(Stream& stream, std::chrono::steady_clock::time_point now) {
  const ProgramWait::OfThread& thread = ProgramWait::ofThisThread();
  Stream::Round& round = stream.round;
  const bool isOfThread = round.thread == &thread;
  if (!isOfThread || round.waits != thread.waits) {
    const std::chrono::duration<double> took = thread.end - round.called;
    // Where some are not over, the thread waited for something else.
    stream.cycle.roundEnded(isOfThread && stream.idle() ? took.count() : 0, round.launches);
    round = {&thread, thread.waits, now, 0};
  }
  ++round.launches;
}

/// Launches that come behind one before the program waits.
std::uint64_t LaunchObserver::behind(const Stream& stream) {
  return std::max(stream.together, stream.sinceWait) - 1;
}

bool LaunchObserver::mayHoldUp(const Stream& stream) const {
  return stream.holdingUp.affords(static_cast<double>(behind(stream)) * holdingUpCosts());
}

bool LaunchObserver::mayTry(const Stream& stream, const ShareController& controller) const {
  const double home = controller.expectedHomeSeconds();
  if (!stream.idle() || behind(stream) == 0 || !(home > 0))
    return true;
  const double each = shared_.splitCost.asTask() - PlanningBudget::part * home;
  return each <= 0 || static_cast<double>(behind(stream)) * each <= stream.holdingUp.left();
}

/// The queue's launch of that number had those wait that came behind it. Each counts once, though
/// several may have held it up.
void LaunchObserver::countHeldUp(Stream& stream, std::uint64_t number) const {
  const std::uint64_t last = std::max(number, std::exchange(stream.heldUpTo, stream.launches));
  if (stream.launches > last)
    stream.holdingUp.spend(static_cast<double>(stream.launches - last) * holdingUpCosts());
}

/// The queue's launch of that number starts: what passed since the one before it is known, if that
/// was timed.
void LaunchObserver::starts(Stream& stream, std::uint64_t number,
                            std::chrono::steady_clock::time_point now) {
  if (!stream.lastLaunch || stream.lastLaunch->number + 1 != number)
    return;
  const EndedLaunch& last = *stream.lastLaunch;
  const std::chrono::duration<double> passed = now - last.end;
  if (const auto code = last.code.lock())
    if (const auto& controller = code->histories.at(last.key).controller)
      controller->passed(last.wasSplit, std::max(0.0, passed.count()));
  stream.lastLaunch.reset();
}

void LaunchObserver::observe(Task& task, Launch& launch) {
  if (launch.isChunked) // else that was known when it was planned
    passes(*task.stream, launch.wasSplit);
  if (task.status < 0 || !launch.plan || task.redone > 0 || task.timing == Timing::Off)
    shapes_.pass(launch);
  if (task.status < 0) {
    if (task.call.reason.empty()) {
      if (!launch.plan) // nor was it counted when it was to be planned, which it never was
        ++launch.code->stats->of(launch.key.range).launches;
      countUnsplit(task, launch, "it ended with error " + std::to_string(task.status));
    }
    // What waits for something that failed was not done, and why that failed others say.
    const bool isSplitsFault = launch.wasSplit && !task.isBehindFailure;
    const bool wasDone = task.status != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    log(isSplitsFault || wasDone ? LogLevel::Error : LogLevel::Debug, "kernel ", launch.code->name,
        " ended with error ", task.status,
        isSplitsFault ? " when split; it is not split again" : "");
    if (isSplitsFault)
      launch.code->neverSplit("a piece of it failed with error " + std::to_string(task.status));
    return;
  }
  if (!launch.plan || task.redone > 0) // then what it took says nothing of the next launch
    return;
  merger_.finish(launch);
  auto start = std::max(task.planned, task.stream->lastRetired);
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> passed = now - start;
  starts(*task.stream, launch.number, start);
  Stream& stream = *task.stream;
  // What sending ahead costs is part of what decided for it.
  const bool isForLater =
      (launch.isWaiting && !launch.sends) || (launch.shapeTrial && shapes_.holdsUp(launch));
  if (launch.isTrial || (isForLater && !launch.wasSplit))
    countHeldUp(stream, launch.number);
  const double timing = timingCosts(task);
  stream.timed.took(std::max(0.0, passed.count()), timing);
  stream.ahead.took(std::max(0.0, passed.count()));
  double wall = task.endedUnseen ? 0 : std::max(0.0, passed.count() - timing);
  launch.code->readySeconds += wall;
  const bool wasAlone = task.planned >= stream.lastRetired && launch.number == stream.launches;
  if (task.timing == Timing::On)
    shapes_.observe(launch);
  if (launch.shapeTrial || launch.needsParts) { // it says nothing of the others
    passTrial(task, launch, wall);
    return;
  }
  if (task.timing == Timing::Off) {
    passUntimed(task, launch, wall, wasAlone);
    return;
  }
  const bool mayWait = launch.wasSplit && !launch.isChunked && !task.learning &&
                       launch.plan->merges.empty() && stream.mayLeaveAftermath() &&
                       !shared_.steppingAside && !shared_.ending && !options_.verify;
  if (!mayWait)
    stream.aftermath.settle(); // in their order
  if (launch.isChunked) {
    observeChunks(launch, wall);
    if (!launch.wasSplit)
      countUnsplit(task, launch,
                   whyHomeAlone(*machine_, launch, launch.code->histories.at(launch.key)));
    return;
  }
  const std::shared_ptr<Over> kept = overs_.take();
  Over& over = *kept;
  over.observer = this;
  over.stream = &stream;
  over.code = launch.code;
  over.key = launch.wasSplit ? std::move(launch.key) : launch.key;
  over.range = launch.range;
  over.plan = launch.plan;
  over.issued.swap(launch.issued); // each keeps the other's memory
  over.ticket = launch.ticket;
  over.ended = {.number = launch.number,
                .task = task.number,
                .called = secondsAt(task.called),
                .noticed = secondsAt(now),
                .isSeen = !task.endedUnseen,
                .ends = {}};
  over.wasSplit = launch.wasSplit;
  over.bytesMoved = launch.bytesMoved;
  over.lookSeconds = launch.lookSeconds;
  over.wall = wall;
  over.isSeen = !task.endedUnseen;
  over.wasAlone = wasAlone;
  over.wasBehind = stream.inOrder && task.after.empty() && task.planned < stream.lastRetired;
  over.heldUp = task.learning && launch.number != stream.launches;
  over.busy = launch.busySeconds;
  // As natively: enqueued by the program's thread, with nothing before it.
  if (over.isSeen && over.wasAlone && task.after.empty() && machine_->homeDevice().returnsAtOnce)
    over.waited = std::max(0.0, std::chrono::duration<double>(now - task.issued).count() - timing);
  // Nobody waits for this to decide about the next launch, unless all is new.
  if (!launch.wasSplit)
    learnHome(task, launch, over);
  else if (!mayWait)
    learn(over, stream);
  if (over.isSeen) // what was learnt is no part of what passes until the next one
    stream.lastLaunch = {launch.number, over.code, over.key, over.wasSplit,
                         mayWait ? now : std::chrono::steady_clock::now()};
  if (mayWait)
    stream.aftermath.jobs.push_back(kept);
}

/// Seconds that it took longer since its commands were timed, and natively were not.
double LaunchObserver::timingCosts(const Task& task) const {
  double seconds = 0;
  if (task.timing == Timing::On && !task.stream->profiled)
    for (const std::size_t device : task.partDevices)
      seconds += machine_->devices()[device].timingCosts;
  return seconds;
}

/// A split launch is over that nobody wanted to hear of.
void LaunchObserver::passUntimed(const Task& task, const Launch& launch, double wall,
                                 bool wasAlone) {
  count(*launch.code, launch.code->stats->of(launch.key.range), *launch.plan);
  LaunchHistory& history = launch.code->histories.at(launch.key);
  history.planning.earn(wall);
  history.learning.earn(wall);
  if (history.controller)
    history.controller->passUntimed(
        wasAlone ? Sizing(history, launch.range, launch.plan->dimension).seconds(wall) : 0);
  if (!task.endedUnseen)
    task.stream->lastLaunch = {launch.number, launch.code, launch.key, true,
                               std::chrono::steady_clock::now()};
}

/// A launch is over that tried a size of its work-groups.
void LaunchObserver::passTrial(Task& task, const Launch& launch, double wall) {
  if (launch.wasSplit) {
    passUntimed(task, launch, wall, false);
    return;
  }
  countUnsplit(task, launch,
               launch.needsParts ? "it stays at home, in work-groups that are not tiny"
                                 : "it tried a size of its work-groups");
  const LaunchHistory& history = launch.code->histories.at(launch.key);
  const double home = history.controller ? history.controller->expectedHomeSeconds() : 0;
  if (home > 0 && home < shared_.shortestLaunch(history.isWaitedFor))
    spendOnShort(launch, launch.lookSeconds + std::max(0.0, wall - home));
}

/// From here on what devices take counts from when the first one was handed its part: if the
/// program waited, and none had to wait for anything else.
void LaunchObserver::countStarts(const Over& launch, StartSkew& starts) {
  const auto moves = [](const LaunchIssued& issued) { return !issued.transfers.empty(); };
  if (!launch.wasSplit || !launch.wasAlone || !launch.isSeen ||
      std::ranges::any_of(launch.issued, moves))
    return;
  using Time = std::chrono::steady_clock::time_point;
  Time first = Time::max();
  firsts_.assign(samples_.size(), Time::max());
  for (const LaunchIssued& issued : launch.issued) {
    Time& ofDevice = firsts_[issued.device];
    ofDevice = std::min(ofDevice, issued.kernel->begun);
    first = std::min(first, ofDevice);
  }
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (firsts_[i] != Time::max())
      starts.note(i, std::chrono::duration<double>(firsts_[i] - first).count(), samples_[i]);
}

/// By device, in `samples_`, and in all. Launches of a queue in their order.
LaunchObserver::Took LaunchObserver::measure(Over& launch, Stream& stream) {
  samples_.assign(machine_->devices().size(), {});
  spans_.assign(samples_.size(), std::nullopt);
  ends_.clear();
  Took took{.complete = true};
  for (const LaunchIssued& issued : launch.issued) {
    auto interval = issued.kernel->interval();
    took.complete = took.complete && interval;
    std::optional<DeviceInterval>& span = spans_[issued.device];
    if (interval) {
      ends_.push_back({issued.device, 1e-9 * static_cast<double>(interval->end)});
      span = DeviceInterval::around(span, *interval);
    }
    const double seconds = issued.kernel->secondsAtWork().value_or(0);
    const double transferSeconds = secondsOf(issued.transfers);
    // A device may have its groups in several parts.
    solver::DeviceSample& sample = samples_[issued.device];
    const bool isFirst = sample.groupBegin == sample.groupEnd;
    sample.groupBegin =
        isFirst ? issued.groupBegin : std::min(sample.groupBegin, issued.groupBegin);
    sample.groupEnd = std::max(sample.groupEnd, issued.groupEnd);
    sample.seconds += seconds + transferSeconds;
    sample.transferSeconds += transferSeconds;
  }
  double longest = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    solver::DeviceSample& sample = samples_[i];
    // Where it had several at once it was at work no longer than all of them took.
    if (spans_[i])
      sample.seconds = std::min(sample.seconds, sample.transferSeconds + spans_[i]->seconds());
    longest = std::max(longest, sample.seconds);
  }
  // What is merged ends on the host.
  const bool endsOnDevices = took.complete && launch.plan->merges.empty() && !options_.verify;
  std::optional<double> behind;
  if (endsOnDevices) {
    launch.ended.ends = ends_;
    behind = stream.ends.took(launch.ended);
  }
  // Devices that share a processor take longer together than any of them. Launches behind which
  // others are held up until they are measured take the host's time as no others do. And where
  // several end before anybody looks, what passed since the one before says nothing.
  const bool isWaitedFor = launch.wasAlone && launch.isSeen;
  const bool isHeldUp = launch.heldUp && launch.plan->merges.empty();
  const bool isWhole = launch.issued.size() == launch.plan->pieces.size(); // no boundaries first
  took.isTelling = took.complete && (isHeldUp || behind || launch.isSeen);
  if (isWaitedFor)
    took.own = launch.wall;
  else if (!isHeldUp)
    took.own = behind ? std::max(*behind, launch.busy) : launch.wall;
  if (launch.wasSplit && endsOnDevices && isWaitedFor && isWhole)
    shared_.splitCost.note(took.own, longest);
  took.own = took.wall = std::max(took.own, longest);
  LaunchHistory& history = launch.code->histories.at(launch.key);
  countStarts(launch, history.starts);
  history.isWaitedFor = launch.wasAlone;
  if (launch.wasSplit && history.controller)
    took.wall += history.controller->restCosts();
  if (launch.ticket.phase != 0 && took.isTelling)
    stream.cycle.took(launch.ticket,
                      Sizing(history, launch.range, launch.plan->dimension).seconds(took.wall));
  history.planning.earn(took.wall);
  history.learning.earn(took.wall);
  return took;
}

/// From one that home did alone.
void LaunchObserver::learnHome(Task& task, const Launch& launch, Over& over) {
  const Took took = measure(over, *task.stream);
  LaunchHistory& history = over.code->histories.at(over.key);
  const Sizing sizing(history, over.range, over.plan->dimension);
  countUnsplit(task, launch, whyHomeAlone(*machine_, launch, history));
  // What it took to bring the data home says nothing of a program whose data always lies there.
  const solver::DeviceSample& home = samples_[machine_->home()];
  const double waited =
      took.complete && home.transferSeconds == 0 && !launch.isFirst ? over.waited : 0;
  if (waited > 0)
    shared_.splitCost.noteAtHome(waited, home.seconds);
  if (took.complete && home.transferSeconds == 0 && over.isSeen && over.wasBehind)
    shared_.splitCost.noteAsTask(over.wall, home.seconds);
  const double shortest = shared_.shortestLaunch(history.isWaitedFor);
  if (took.complete && std::max(waited, home.seconds) < shortest)
    spendOnShort(launch, launch.lookSeconds + took.wall - home.seconds);
  over.code->stats->tookAtHome(over.code->stats->of(over.key.range), home.seconds);
  if (history.controller)
    history.controller->observeHome(
        sizing.seconds(took.complete ? home.seconds - home.transferSeconds : took.wall),
        sizing.groups(), sizing.seconds(waited), shortest);
  remember(*over.code, history, sizing.groups());
}

void LaunchObserver::learn(Over& launch, Stream& stream) {
  const Took took = measure(launch, stream);
  LaunchHistory& history = launch.code->histories.at(launch.key);
  const std::uint64_t groups = launch.range.groups(launch.plan->dimension);
  shares_.clear();
  seconds_.clear();
  double moving = 0;
  std::uint64_t moves = 0;
  for (const LaunchIssued& issued : launch.issued)
    moves += issued.transfers.size();
  for (const solver::DeviceSample& sample : samples_) {
    shares_.push_back(static_cast<double>(sample.groupEnd - sample.groupBegin) /
                      static_cast<double>(groups));
    seconds_.push_back(sample.seconds - sample.startSeconds);
    moving += sample.transferSeconds;
  }
  countSplit(*launch.code, launch.key, *launch.plan, took.wall, shares_, seconds_);
  if (history.record && launch.plan->isCut())
    history.record->dimension = launch.plan->dimension;
  const Sizing sizing(history, launch.range, launch.plan->dimension);
  const double home = history.controller ? history.controller->homeSeconds() : 0;
  if (home > 0 && home < shared_.shortestLaunch(history.isWaitedFor))
    spendOnShort(*launch.code, launch.range, launch.lookSeconds + took.wall - sizing.taken(home));
  if (history.controller && took.complete) {
    for (solver::DeviceSample& sample : samples_)
      sample = {sizing.group(sample.groupBegin), sizing.group(sample.groupEnd),
                sizing.seconds(sample.seconds), sizing.seconds(sample.transferSeconds),
                sizing.seconds(sample.startSeconds)};
    const auto begin = std::chrono::steady_clock::now();
    if (history.controller->observeSplit(samples_, sizing.groups(), sizing.seconds(took.own),
                                         {.isWaitedFor = launch.wasAlone && launch.isSeen,
                                          .mayLearn = history.learning.affords(),
                                          .isTelling = took.isTelling,
                                          .isProposed = launch.ticket.phase == 0}))
      history.learning.spend(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  if (launch.plan->merges.empty()) // merges move what was found changed, which no plan knows
    shared_.moving.note(moves, launch.bytesMoved, moving);
  remember(*launch.code, history, sizing.groups());
}

void LaunchObserver::spendOnShort(KernelCode& code, const NDRange& range, double seconds) const {
  code.trials.spend(seconds, static_cast<double>(itemsOf(range)), shared_.shortestLaunch(),
                    TrialBudget::Clock::now());
}

/// Notes in the statistics that a launch was split.
void LaunchObserver::count(KernelCode& code, KernelStats::PerRange& range, const LaunchPlan& plan) {
  KernelStats& stats = *code.stats;
  ++stats.splitLaunches;
  ++range.splitLaunches;
  stats.rung = static_cast<int>(plan.rung);
  range.dimension = plan.dimension;
}

/// … and what it was: shares and seconds by device.
void LaunchObserver::countSplit(KernelCode& code, const LaunchKey& key, const LaunchPlan& plan,
                                double wall, std::span<const double> shares,
                                std::span<const double> seconds) {
  KernelStats::PerRange& range = code.stats->of(key.range);
  count(code, range, plan);
  ++range.timedSplits;
  range.wallSeconds = wall;
  range.allWallSeconds += wall;
  range.allSeconds.resize(std::max(range.allSeconds.size(), seconds.size()));
  for (std::size_t i = 0; i < seconds.size(); ++i)
    range.allSeconds[i] += seconds[i];
  range.lastShares.assign(shares.begin(), shares.end());
  range.lastSeconds.assign(seconds.begin(), seconds.end());
}

/// Tells other launches, and later runs, what this one's history knows by now.
void LaunchObserver::remember(const KernelCode& code, LaunchHistory& history,
                              std::uint64_t groups) {
  if (!history.controller || !history.record)
    return;
  SpeedRecord& record = *history.record;
  record.items = static_cast<double>(itemsOf(*history.base));
  const double groupItems = record.items / static_cast<double>(groups);
  std::span<const double> speeds = history.controller->speeds();
  for (std::size_t i = 0; i < record.secondsPerItem.size(); ++i)
    if (speeds[i] > 0)
      record.secondsPerItem[i] = 1 / (speeds[i] * groupItems);
  const std::span<const double> atMost = history.controller->atMost();
  record.atMost.assign(atMost.begin(), atMost.end());
  const double home = history.controller->homeSeconds();
  if (home > 0 && !history.controller->homeIsDoubtful())
    record.homeSeconds = home;
  double& homePerItem = record.secondsPerItem[machine_->home()];
  if (homePerItem == 0)
    homePerItem = history.controller->homeWorkSeconds() / record.items;
  if (history.controller->splitSeconds() > 0)
    record.splitSeconds = history.controller->splitSeconds();
  record.secondsPerByte = shared_.moving.perByte();
  record.secondsPerMove = shared_.moving.perMove();
  knownSpeeds_->touch(record);
  log(LogLevel::Debug, "kernel ", code.name, ": home ", record.homeSeconds, " s, split ",
      record.splitSeconds, " s");
}

/// What each device did, for the controller and the statistics.
void LaunchObserver::observeChunks(Launch& launch, double wall) {
  const std::size_t devices = machine_->devices().size();
  const std::uint64_t groups = launch.range.groups(launch.plan->dimension);
  std::vector<solver::ChunkSample> samples;
  std::vector<double> shares(devices), seconds(devices);
  for (const Launch::Issued& issued : launch.issued) {
    // What moved for a chunk says nothing of how much work lies there.
    double took = 0;
    if (auto interval = issued.kernel->interval())
      took = interval->seconds();
    samples.push_back(
        {static_cast<unsigned>(issued.device), issued.groupBegin, issued.groupEnd, took});
    shares[issued.device] +=
        static_cast<double>(issued.groupEnd - issued.groupBegin) / static_cast<double>(groups);
    seconds[issued.device] += took;
    seconds[issued.device] += secondsOf(issued.transfers);
  }
  LaunchHistory& history = launch.code->histories.at(launch.key);
  const Sizing sizing(history, launch.range, launch.plan->dimension);
  if (!launch.wasSplit) {
    double home = 0;
    for (const solver::ChunkSample& chunk : samples)
      home += chunk.seconds;
    launch.code->stats->tookAtHome(launch.code->stats->of(launch.key.range), home);
    if (home < shared_.shortestLaunch())
      spendOnShort(launch, launch.lookSeconds + wall - home);
    if (history.controller)
      history.controller->observeHome(sizing.seconds(home));
    remember(*launch.code, history, sizing.groups());
    return;
  }
  wall = std::max(wall, *std::max_element(seconds.begin(), seconds.end()));
  countSplit(*launch.code, launch.key, *launch.plan, wall, shares, seconds);
  for (solver::ChunkSample& chunk : samples) {
    chunk.groupBegin = sizing.group(chunk.groupBegin);
    chunk.groupEnd = sizing.group(chunk.groupEnd);
    chunk.seconds = sizing.seconds(chunk.seconds);
  }
  if (history.controller)
    history.controller->observeChunks(samples, sizing.groups());
  remember(*launch.code, history, sizing.groups());
}

} // namespace libsplit::runtime
