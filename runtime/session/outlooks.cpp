#include "runtime/session/outlooks.h"

#include "runtime/core/forks.h"
#include "runtime/core/log.h"
#include "runtime/cost/launch_id.h"
#include "runtime/session/splittable.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

namespace libsplit::runtime {

namespace {

/// Knowing better by this factor what something takes, an outlook is made anew.
constexpr double muchBetterKnown = 1.5;
bool isMuchBetterKnown(double seconds, double before) {
  return seconds > muchBetterKnown * before || before > muchBetterKnown * seconds;
}
/// None of this is urgent, and the program needs its processors. Forks may come meanwhile: it knows
/// no driver.
void calmly(const std::function<void()>& work) {
  constexpr int stepsBelow = 5;
  runBelow(stepsBelow, [&] {
    const Forkable withoutDriver;
    work();
  });
}

/// What a step's request points at: the values of its arguments.
using Values = std::deque<std::vector<std::byte>>;

} // namespace

/// `objectOf`: what the i-th of its arguments is.
template <class ObjectOf>
std::uint64_t Outlooks::idOfCall(const KernelCode& code, const std::string& range,
                                 std::size_t arguments, const ObjectOf& objectOf) {
  LaunchId id(&code);
  id.mix(std::hash<std::string>()(range));
  for (std::size_t i = 0; i < arguments; ++i)
    id.mix(objectOf(i).get());
  return id.value();
}

void Outlooks::forgetIfMany() {
  if (steps_.size() < mostSteps && outlooks_.size() < mostSteps)
    return;
  steps_.clear();
  byCall_.clear();
  outlooks_.clear();
}

void Outlooks::note(std::uint64_t id, const Launch& launch, const LaunchHistory& history) {
  forgetIfMany();
  const double home = history.controller->expectedHomeSeconds();
  isWatching_ = isWatching_ || home >= shared_.shortestLaunch();
  if (!isWatching_)
    return;
  Noted& noted = steps_[id];
  cameWithCommands(noted);
  std::vector<double> speeds = history.controller->expectedSpeeds();
  const auto isAsKnown = [](double speed, double before) {
    return (speed > 0) == (before > 0) && !isMuchBetterKnown(speed, before);
  };
  const bool isNews = noted.code.lock() != launch.code ||
                      isMuchBetterKnown(home, noted.step.homeSeconds) ||
                      noted.step.isWaitedFor != history.isWaitedFor ||
                      !std::ranges::equal(noted.step.speeds, speeds, isAsKnown);
  describe(launch, planKey_);
  noted.drifts = !isNews && planKey_ != noted.lastKey;
  std::swap(noted.lastKey, planKey_);
  noted.passed = false;
  if (isNews)
    noted.giveUp();
  else if (noted.wanted == 0)
    return;
  noted.version = ++versions_;
  if (noted.wanted > 0 && --noted.wanted == 0) {
    if (noted.drifts)
      noted.step.later =
          std::make_shared<const OutlookStep>(stepOf(launch, history, std::move(speeds)));
    return;
  }
  byCall_[idOfCall(*launch.code, launch.key.range, launch.objects.size(),
                   [&](std::size_t i) { return launch.objects[i]; })] = id;
  noted.code = launch.code;
  noted.isNative = false;
  noted.launchKey = launch.key;
  noted.planKey = noted.lastKey;
  noted.step = stepOf(launch, history, std::move(speeds));
}

OutlookStep Outlooks::stepOf(const Launch& launch, const LaunchHistory& history,
                             std::vector<double> speeds) const {
  OutlookStep step;
  auto values = std::make_shared<Values>();
  step.request = launch.request;
  step.request.contents = nullptr;
  for (ArgumentValue& argument : step.request.arguments)
    argument.bytes = values->emplace_back(argument.bytes.begin(), argument.bytes.end());
  step.devices = planDevicesOf(*shared_.machine, launch);
  step.speeds = std::move(speeds);
  step.homeSeconds = history.controller->expectedHomeSeconds();
  step.isWaitedFor = history.isWaitedFor;
  step.dimension = history.usualDimension(launch.range.dimensions);
  for (const auto& buffer : launch.buffers) {
    step.buffers.push_back(buffer.get());
    step.sizes.push_back(buffer->size());
  }
  step.keeps = std::move(values);
  return step;
}

/// Whether the launches of the cycle that drift are remembered from the same two rounds, one after
/// the other.
bool Outlooks::areOfTwoRounds(std::span<const std::uint64_t> drifting) const {
  const std::uint64_t pair = drifting.empty() ? 0 : steps_.at(drifting.front()).pair;
  return std::ranges::all_of(drifting, [&](std::uint64_t id) {
    const Noted& noted = steps_.at(id);
    return noted.pair == pair && pair > 0 && noted.wanted == 0;
  });
}

/// Remembers the next two of each, unless some are about to be, or are not even looked at.
void Outlooks::wantTwoRounds(std::span<const std::uint64_t> drifting) {
  for (const std::uint64_t id : drifting)
    if (const Noted& noted = steps_.at(id); noted.wanted > 0 || noted.passed)
      return;
  ++looks_;
  for (const std::uint64_t id : drifting) {
    Noted& noted = steps_.at(id);
    noted.wanted = 2;
    noted.pair = looks_;
  }
}

std::uint64_t Outlooks::noteNative(const Kernel& kernel, const LaunchArguments& arguments) {
  return pass(*kernel.code,
              kernel.code->histories.nameOf(rangeOf(arguments), arguments.local != nullptr),
              kernel.arguments.size(), [&](std::size_t i) { return kernel.memoryOf(i); });
}

std::uint64_t Outlooks::noteNative(const Launch& launch) {
  return pass(*launch.code, launch.key.range, launch.objects.size(),
              [&](std::size_t i) { return launch.objects[i]; });
}

template <class ObjectOf>
std::uint64_t Outlooks::pass(const KernelCode& code, const std::string& range,
                             std::size_t arguments, const ObjectOf& objectOf) {
  forgetIfMany();
  const std::uint64_t call = idOfCall(code, range, arguments, objectOf);
  if (const auto known = byCall_.find(call); known != byCall_.end()) {
    Noted& noted = steps_[known->second];
    cameWithCommands(noted);
    noted.passed = true;
    if (noted.wanted > 0)
      noted.giveUp();
    return known->second;
  }
  Noted& noted = steps_[call];
  cameWithCommands(noted);
  if (noted.version > 0)
    return call;
  noted.version = ++versions_;
  for (std::size_t i = 0; i < arguments; ++i)
    if (const auto object = objectOf(i); object && object->buffer) {
      noted.step.buffers.push_back(object->buffer.get());
      noted.step.sizes.push_back(object->buffer->size());
      noted.step.writes.push_back(i >= code.writes.size() || code.writes[i]);
    }
  return call;
}

void Outlooks::cameWithCommands(Noted& noted) {
  if (noted.usual.cameWith(between_.take()) && noted.version > 0)
    noted.version = ++versions_;
}

OutlookMachine Outlooks::machine() const {
  const Machine& machine = *shared_.machine;
  return {.nodes = machine.nodes(),
          .home = machine.home(),
          .homeNode = machine.homeDevice().node,
          .secondsPerByte = shared_.moving.perByteOrGuess(),
          .secondsPerHomeByte = shared_.moving.perByteToHome(),
          .secondsPerMove = shared_.moving.perMove(),
          .secondsPerSplit = shared_.splitCost.seconds(),
          .secondsBehind = shared_.splitCost.shortestBehind()};
}

const Outlook* Outlooks::find(std::span<const std::uint64_t> ids) {
  std::uint64_t version = 0;
  for (const std::uint64_t id : ids) {
    const auto noted = steps_.find(id);
    if (noted == steps_.end() || noted->second.version == 0 || !noted->second.usual.isKnown() ||
        (!noted->second.isNative && noted->second.code.expired()))
      return nullptr;
    version = std::max(version, noted->second.version);
  }
  std::vector<std::uint64_t> drifting;
  std::ranges::copy_if(ids, std::back_inserter(drifting),
                       [this](std::uint64_t id) { return steps_.at(id).drifts; });
  if (!areOfTwoRounds(drifting)) {
    // One that comes twice in a round would be taken for two rounds.
    if (std::set<std::uint64_t>(ids.begin(), ids.end()).size() == ids.size())
      wantTwoRounds(drifting);
    return nullptr;
  }
  const double secondsPerByte = shared_.moving.perByteOrGuess();
  std::shared_ptr<Made>& made = outlooks_[{ids.begin(), ids.end()}];
  const bool isStale =
      made && made->isOver &&
      (made->version != version || isMuchBetterKnown(secondsPerByte, made->secondsPerByte));
  if (!made || isStale) {
    made = std::make_shared<Made>();
    made->version = version;
    made->secondsPerByte = secondsPerByte;
    make(ids, made);
  }
  if (!made->isOver || !made->outlook)
    return nullptr;
  keepPlans(ids, *made->outlook);
  return &*made->outlook;
}

void Outlooks::make(std::span<const std::uint64_t> ids, const std::shared_ptr<Made>& made) {
  std::vector<OutlookStep> steps;
  std::vector<std::shared_ptr<KernelCode>> keeps;
  for (const std::uint64_t id : ids) {
    const Noted& noted = steps_[id];
    steps.push_back(noted.step);
    steps.back().before = noted.usual.commands();
    keeps.push_back(noted.code.lock());
  }
  if (shared_.options.waitAnalysis) { // of what may be found out the program waits for all
    made->outlook = lookAhead(steps, machine(), [] { return true; });
    made->isOver = true;
    return;
  }
  auto job = [steps = std::move(steps), keeps = std::move(keeps), machine = machine(),
              goesOn = goesOn_, made, this] {
    std::optional<Outlook> outlook;
    try {
      calmly([&] { outlook = lookAhead(steps, machine, [&] { return goesOn->load(); }); });
    } catch (const std::exception& error) {
      log(LogLevel::Debug, "a cycle can't be looked ahead at: ", error.what());
    }
    if (!*goesOn)
      return;
    Lock lock(shared_.mutex);
    made->outlook = std::move(outlook);
    made->isOver = true;
  };
  if (!worker_.post(std::move(job)))
    made->isOver = true; // the cycle stays at home
}

bool Outlooks::workOut(std::function<void()> work) {
  return !shared_.options.waitAnalysis && worker_.post([work = std::move(work)] { calmly(work); });
}

/// Those of an outlook that pays, for launches that are to be split so.
void Outlooks::keepPlans(std::span<const std::uint64_t> ids, const Outlook& outlook) {
  if (!(outlook.gain() > 0))
    return;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Outlook::Step& step = outlook.steps[i];
    const Noted& noted = steps_[ids[i]];
    const std::shared_ptr<KernelCode> code = step.plan ? noted.code.lock() : nullptr;
    if (!code)
      continue;
    LaunchHistory& history = code->histories.at(noted.launchKey);
    if (!history.dimension)
      history.dimension = step.dimension;
    PlanKey key = noted.planKey;
    groupsOf(key.range, step.shares, key.groups);
    if (code->plans.find(key))
      continue;
    history.planning.seen(step.planningSeconds);
    if (!history.planned)
      history.planned = key;
    code->plans.keep(std::move(key), {step.plan, {}});
  }
}

void Outlooks::stop(double seconds) {
  goesOn_->store(false);
  worker_.stop(seconds);
}

} // namespace libsplit::runtime
