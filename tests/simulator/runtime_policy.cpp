#include "tests/simulator/runtime_policy.h"

#include "runtime/cost/launch_cycle.h"
#include "runtime/cost/share_controller.h"
#include "runtime/cost/split_cost.h"

#include <algorithm>

namespace libsplit::simulator {

namespace {

using runtime::LaunchCycle;
using runtime::SectionUse;
using runtime::ShareController;
using Kind = WorldDecision::Kind;

constexpr std::uint64_t learningSplits = 6, knownSplits = 3;
constexpr double guessedSecondsPerByte = 1e-10;

class RuntimePolicy final : public Policy {
public:
  RuntimePolicy(const World& world, const std::string& policy)
      : world_(world), policy_(*runtime::parsePolicy(policy)) {
    for (const WorldDevice& device : world.devices)
      nodes_ = std::max(nodes_, device.node + 1);
  }

  WorldDecision decide(const LaunchView& view) override {
    // As long as one device is not ready, none of the kernel's launches is split.
    if (std::find(view.isReady.begin(), view.isReady.end(), false) != view.isReady.end())
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
    return decision;
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
    history.controller->observeSplit(report.samples, report.groups, report.wall);
    if (report.bytes >= 4096 && report.movingSeconds > 0) {
      const double each = report.movingSeconds / report.bytes;
      secondsPerByte_ = secondsPerByte_ > 0 ? 0.9 * secondsPerByte_ + 0.1 * each : each;
    }
  }

private:
  struct History {
    std::unique_ptr<ShareController> controller;
    std::uint64_t splits = 0;
  };

  History& at(const LaunchView& view) {
    History& history = histories_[view.history];
    if (history.controller)
      return history;
    ShareController::Setup setup;
    setup.policy = policy_;
    setup.minLaunchSeconds = runtime::SplitCost().shortestLaunch();
    for (const WorldDevice& device : world_.devices) {
      setup.speeds.push_back(device.guess);
      setup.likeHome.push_back(device.isAlike);
    }
    if (nodes_ > 1) {
      double bytes = 0;
      for (const KernelUse& use : world_.kernels[view.kernel].uses)
        bytes += use.reads ? static_cast<double>(world_.buffers[use.buffer]) : 0;
      setup.movingSeconds = bytes * (secondsPerByte_ > 0 ? secondsPerByte_ : guessedSecondsPerByte);
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
    passing.secondsPerByte = secondsPerByte_;
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
  double secondsPerByte_ = 0;
};

} // namespace

std::unique_ptr<Policy> makeRuntimePolicy(const World& world, const std::string& policy) {
  if (policy == "model")
    return makeModelPolicy(world);
  return std::make_unique<RuntimePolicy>(world, policy);
}

} // namespace libsplit::simulator
