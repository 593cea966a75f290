#include "tests/simulator/runtime_policy.h"

#include "tests/simulator/model/launch_choice.h"

#include <algorithm>

namespace libsplit::simulator {

namespace {

using Kind = WorldDecision::Kind;

class ModelPolicy final : public Policy {
public:
  explicit ModelPolicy(const World& world) : world_(world) {}

  WorldDecision decide(const LaunchView& view) override {
    History& history = at(view);
    WorldDecision decision;
    if (history.isFirst && view.canChunk) {
      decision.kind = Kind::Chunks;
      decision.isAwaited = true;
      for (const WorldDevice& device : world_.devices)
        decision.shares.push_back(device.isAlike ? 1 : 0);
      history.isFirst = false;
      return decision;
    }
    history.isFirst = false;
    LaunchChoice::Situation situation;
    situation.groups = static_cast<double>(view.groups);
    situation.splitSeconds = overhead_;
    situation.splitDeviation = splits_ > 0 ? 0.1 : 1;
    situation.moving = [&](std::span<const double> shares) {
      const std::vector<double> bytes = view.lacking(shares);
      double most = 0;
      for (const double each : bytes)
        most = std::max(most, each);
      return most * (secondsPerByte_ > 0 ? secondsPerByte_ : 1e-10);
    };
    const LaunchChoice::Choice choice = history.choice->next(situation);
    decision.ticket = choice.ticket;
    decision.isAwaited = choice.isAwaited;
    decision.shares.assign(choice.shares.begin(), choice.shares.end());
    if (choice.isNative)
      decision.kind = Kind::Native;
    else
      decision.kind = choice.shares[0] > 1 - 1e-9 ? Kind::Measure : Kind::Split;
    return decision;
  }

  void observe(const LaunchReport& report) override {
    History& history = histories_[report.history];
    if (!report.chunks.empty()) {
      history.choice->observeChunks(report.chunks, report.groups);
      return;
    }
    if (report.bytes >= 4096 && report.movingSeconds > 0) {
      const double each = report.movingSeconds / report.bytes;
      secondsPerByte_ = secondsPerByte_ > 0 ? 0.9 * secondsPerByte_ + 0.1 * each : each;
    }
    if (const auto beside = history.choice->observe(report.samples, report.groups, report.wall,
                                                    report.decision.ticket)) {
      splits_ = std::min(splits_ + 1, 16);
      overhead_ += (std::min(*beside, 4 * overhead_ + 10e-6) - overhead_) / splits_;
    }
  }

private:
  struct History {
    std::unique_ptr<LaunchChoice> choice;
    bool isFirst = true;
  };
  History& at(const LaunchView& view) {
    History& history = histories_[view.history];
    if (history.choice) {
      for (std::size_t d = 0; d < view.isReady.size(); ++d)
        history.choice->setUsable(d, view.isReady[d]);
      return history;
    }
    LaunchChoice::Setup setup;
    for (std::size_t d = 0; d < world_.devices.size(); ++d) {
      const WorldDevice& device = world_.devices[d];
      const bool isHome = d == 0;
      setup.devices.push_back({device.guess, isHome ? 1e-3 : device.isAlike ? 0.1 : 2});
      setup.memories.push_back(device.node);
    }
    history.choice = std::make_unique<LaunchChoice>(std::move(setup));
    for (std::size_t d = 0; d < view.isReady.size(); ++d)
      history.choice->setUsable(d, view.isReady[d]);
    return history;
  }
  const World& world_;
  std::map<std::size_t, History> histories_;
  double overhead_ = 50e-6;
  int splits_ = 0;
  double secondsPerByte_ = 0;
};

} // namespace

std::unique_ptr<Policy> makeModelPolicy(const World& world) {
  return std::make_unique<ModelPolicy>(world);
}

} // namespace libsplit::simulator
