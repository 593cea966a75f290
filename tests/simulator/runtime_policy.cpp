#include "tests/simulator/runtime_policy.h"

#include "runtime/cost/launch_cycle.h"
#include "runtime/cost/moving_rate.h"
#include "runtime/cost/rehearsal.h"
#include "runtime/cost/share_controller.h"
#include "runtime/cost/split_cost.h"
#include "runtime/cost/start_skew.h"

#include <algorithm>

namespace libsplit::simulator {

namespace {

using runtime::LaunchCycle;
using runtime::Rehearsal;
using runtime::SectionUse;
using runtime::ShareController;
using runtime::StartSkew;
using Kind = WorldDecision::Kind;

constexpr std::uint64_t learningSplits = 6, knownSplits = 3;

class RuntimePolicy final : public Policy {
public:
  RuntimePolicy(const World& world, const std::string& policy)
      : world_(world), policy_(*runtime::parsePolicy(policy)) {
    for (const WorldDevice& device : world.devices)
      nodes_ = std::max(nodes_, device.node + 1);
  }

  WorldDecision decide(const LaunchView& view) override {
    // As long as a device that is to be there from the first is not ready, none of the kernel's
    // launches is split.
    for (std::size_t d = 0; d < view.isReady.size(); ++d)
      if (!view.isReady[d] && !waitsForRehearsal(d))
        return {};
    History& history = at(view);
    WorldDecision decision;
    const LaunchCycle::Ruling ruling = rulingOf(view, history);
    switch (ruling.mode) {
    case LaunchCycle::Mode::Free:
      adopt(decision, history.controller->next(view.canChunk &&
                                               policy_.kind != runtime::Policy::Kind::Static));
      break;
    case LaunchCycle::Mode::Split:
      decision.kind = Kind::Split;
      decision.shares.assign(ruling.shares.begin(), ruling.shares.end());
      break;
    case LaunchCycle::Mode::AtHome:
      decision.kind = Kind::Measure;
      break;
    case LaunchCycle::Mode::Native:
    case LaunchCycle::Mode::Waiting:
      break;
    }
    tickets_[view.index] = ruling.ticket;
    const bool isStatic = policy_.kind == runtime::Policy::Kind::Static;
    decision.isAwaited =
        decision.kind == Kind::Chunks ||
        (decision.kind != Kind::Native && !isStatic && history.splits < learningSplits);
    if (decision.kind == Kind::Split)
      ++history.splits;
    if (decision.kind == Kind::Split || decision.kind == Kind::Measure)
      rehearse(view, history);
    if (decision.kind == Kind::Chunks)
      for (std::size_t d = 0; d < world_.devices.size(); ++d)
        decision.joins.push_back(history.controller->canUse(d));
    return decision;
  }

  void rehearsed(std::size_t index, std::size_t device, std::uint64_t groups,
                 double seconds) override {
    History& history = histories_[index];
    history.rehearsals[device].took(groups, seconds, history.withoutOthers(),
                                    world_.devices[device].fill);
  }

  void observe(const LaunchReport& report) override {
    History& history = histories_[report.history];
    if (!report.chunks.empty()) {
      if (report.wasSplit) {
        history.controller->observeChunks(report.chunks, report.groups);
      } else {
        double home = 0;
        for (const auto& chunk : report.chunks)
          home += chunk.seconds;
        history.controller->observeHome(home);
      }
      return;
    }
    const LaunchCycle::Ticket ticket = tickets_[report.index];
    if (ticket.phase != 0)
      cycle_.took(ticket, report.wall);
    if (!report.wasSplit) {
      history.controller->observeHome(report.samples[0].seconds - report.samples[0].transferSeconds,
                                      report.groups);
      return;
    }
    std::vector<solver::DeviceSample> samples = report.samples;
    for (std::size_t d = 0; d < report.starts.size(); ++d)
      if (solver::DeviceSample& sample = samples[d]; sample.groupBegin != sample.groupEnd)
        history.starts.note(d, report.starts[d], sample);
    history.controller->observeSplit(samples, report.groups, report.wall);
    moving_.note(report.moves, static_cast<std::uint64_t>(report.bytes), report.movingSeconds);
  }

private:
  struct History {
    std::unique_ptr<ShareController> controller;
    std::vector<Rehearsal> rehearsals;
    StartSkew starts;
    std::uint64_t splits = 0;
    double groups = 0;

    Rehearsal::Launch withoutOthers() const {
      return {groups, 1,
              controller->splitSeconds() > 0 ? controller->splitSeconds()
                                             : controller->homeSeconds()};
    }
  };

  bool waitsForRehearsal(std::size_t device) const {
    return policy_.kind == runtime::Policy::Kind::Auto && isLatecomer(world_, device);
  }

  void rehearse(const LaunchView& view, History& history) {
    const Rehearsal::Launch without = history.withoutOthers();
    if (!(without.seconds > 0))
      return;
    for (std::size_t d = 0; d < world_.devices.size(); ++d)
      if (waitsForRehearsal(d) && view.isReady[d])
        if (const auto groups = history.rehearsals[d].next(without, world_.devices[d].fill)) {
          history.rehearsals[d].begins();
          view.rehearse(d, groups);
        }
  }

  bool takesPart(std::size_t device, const History& history) const {
    return !waitsForRehearsal(device) || history.rehearsals[device].joins();
  }

  bool hasNewcomer(const History& history) const {
    for (std::size_t d = 0; d < world_.devices.size(); ++d)
      if (!history.controller->canUse(d) && takesPart(d, history))
        return true;
    return false;
  }

  /// What a record of the launches so far tells.
  ShareController::Prior known(const History& history) const {
    ShareController::Prior prior;
    if (!history.controller)
      return prior;
    const ShareController& before = *history.controller;
    prior.from = ShareController::Prior::From::SameLaunch;
    prior.speeds.assign(before.speeds().begin(), before.speeds().end());
    prior.homeSeconds = before.homeSeconds();
    if (prior.speeds[0] <= 0 && prior.homeSeconds > 0)
      prior.speeds[0] = history.groups / prior.homeSeconds;
    for (std::size_t d = 0; d < prior.speeds.size(); ++d)
      if (prior.speeds[d] <= 0)
        prior.speeds[d] = history.rehearsals[d].rate();
    if (before.splitSeconds() > 0)
      prior.gain = before.homeSeconds() / before.splitSeconds();
    return prior;
  }

  History& at(const LaunchView& view) {
    History& history = histories_[view.history];
    history.rehearsals.resize(world_.devices.size());
    history.groups = static_cast<double>(view.groups);
    if (history.controller && !hasNewcomer(history))
      return history;
    ShareController::Setup setup;
    setup.policy = policy_;
    setup.minLaunchSeconds = runtime::SplitCost().shortestLaunch();
    setup.prior = known(history);
    for (std::size_t d = 0; d < world_.devices.size(); ++d) {
      setup.speeds.push_back(takesPart(d, history) ? world_.devices[d].guess : 0);
      setup.likeHome.push_back(world_.devices[d].isAlike);
      setup.hasRehearsed.push_back(history.rehearsals[d].rate() > 0);
    }
    if (nodes_ > 1) {
      std::uint64_t bytes = 0;
      for (const KernelUse& use : world_.kernels[view.kernel].uses)
        bytes += use.reads ? world_.buffers[use.buffer] : 0;
      setup.movingSeconds = moving_.seconds(bytes);
    }
    history.controller = std::make_unique<ShareController>(std::move(setup));
    return history;
  }

  static void adopt(WorldDecision& decision, const ShareController::Decision& made) {
    using Action = ShareController::Action;
    decision.kind = made.action == Action::Native    ? Kind::Native
                    : made.action == Action::Measure ? Kind::Measure
                    : made.action == Action::Split   ? Kind::Split
                                                     : Kind::Chunks;
    decision.shares.assign(made.shares.begin(), made.shares.end());
  }

  LaunchCycle::Ruling rulingOf(const LaunchView& view, History& history) {
    if (nodes_ < 2 || policy_.kind != runtime::Policy::Kind::Auto)
      return {};
    LaunchCycle::Passing passing;
    passing.id = view.kernel + 1;
    passing.isKnown = history.splits >= knownSplits;
    passing.secondsPerByte = moving_.perByte();
    passing.own = [&] { return history.controller->split().shares; };
    passing.profile = [&](solver::LoadProfile& profile) {
      return history.controller->describe(profile, view.groups);
    };
    passing.section = [&] {
      std::vector<SectionUse> uses;
      for (const KernelUse& use : world_.kernels[view.kernel].uses) {
        const std::uint64_t size = world_.buffers[use.buffer];
        const ByteSet middle(size / 16 * 7, size / 16 * 9);
        const ByteSet all(0, size);
        const auto index = static_cast<std::size_t>(&use - world_.kernels[view.kernel].uses.data());
        uses.push_back(
            {view.directories[index],
             use.reads ? (use.range == KernelUse::Range::Whole ? all : middle) : ByteSet(),
             use.writes ? middle : ByteSet()});
      }
      return uses;
    };
    return cycle_.next(passing);
  }

  const World& world_;
  runtime::Policy policy_;
  NodeId nodes_ = 1;
  std::map<std::size_t, History> histories_;
  std::map<std::uint64_t, LaunchCycle::Ticket> tickets_;
  LaunchCycle cycle_;
  runtime::MovingRate moving_;
};

} // namespace

std::unique_ptr<Policy> makeRuntimePolicy(const World& world, const std::string& policy) {
  if (policy == "model")
    return makeModelPolicy(world);
  return std::make_unique<RuntimePolicy>(world, policy);
}

} // namespace libsplit::simulator
