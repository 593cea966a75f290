#include "runtime/share_controller.h"

#include <algorithm>
#include <numeric>

namespace libsplit::runtime {

namespace {

/// Splitting is judged by the last `judgedSplits` of every `splitsBeforeVerdict` launches. Their mean, not
/// their best: when launches overlap, only the sum of their times means anything.
constexpr unsigned splitsBeforeVerdict = 6;
constexpr unsigned judgedSplits = 3;
constexpr unsigned longestRest = 4096;
/// In the first split launch a device gets at most this part of what its guessed speed promises: a guess
/// that is wrong by a factor then costs little.
constexpr double caution = 0.25;

std::vector<double> normalised(std::vector<double> values) {
  double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values)
    value = sum > 0 ? value / sum : 1.0 / static_cast<double>(values.size());
  return values;
}

/// The shares of the first split launch under `auto`.
std::vector<double> cautiousShares(std::vector<double> speeds, std::size_t home) {
  speeds = normalised(std::move(speeds));
  if (home >= speeds.size() || speeds[home] <= 0)
    return speeds;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    if (i != home)
      speeds[i] *= caution;
  speeds[home] = 0;
  speeds[home] = 1 - std::accumulate(speeds.begin(), speeds.end(), 0.0);
  return speeds;
}

} // namespace

double guessedSpeed(bool isGpu, unsigned computeUnits, unsigned megahertz) {
  double lanesPerUnit = isGpu ? 64 : 8;
  return lanesPerUnit * std::max(1u, computeUnits) * std::max(1u, megahertz);
}

ShareController::ShareController(Setup setup) : setup_(std::move(setup)) {
  const std::size_t devices = setup_.speeds.size();
  switch (setup_.policy.kind) {
  case Policy::Kind::Static: {
    std::vector<double> shares = setup_.policy.shares;
    shares.resize(devices, 0.0);
    for (std::size_t i = 0; i < devices; ++i)
      if (setup_.speeds[i] <= 0)
        shares[i] = 0;
    solver_ = solver::makeStatic(normalised(std::move(shares)));
    break;
  }
  case Policy::Kind::Single: {
    std::vector<double> shares(devices, 0.0);
    if (setup_.policy.device < devices)
      shares[setup_.policy.device] = 1;
    solver_ = solver::makeStatic(std::move(shares));
    break;
  }
  case Policy::Kind::FixedPoint: {
    std::vector<double> shares(devices);
    std::transform(setup_.speeds.begin(), setup_.speeds.end(), shares.begin(),
                   [](double speed) { return speed > 0 ? 1.0 : 0.0; });
    solver_ = solver::makeFixedPoint(normalised(std::move(shares)));
    break;
  }
  case Policy::Kind::Auto:
    solver_ = solver::makeFixedPoint(cautiousShares(setup_.speeds, setup_.home));
    break;
  case Policy::Kind::Off:
    break;
  }
}

ShareController::Decision ShareController::split() { return {Action::Split, solver_->propose()}; }

ShareController::Decision ShareController::next() {
  switch (setup_.policy.kind) {
  case Policy::Kind::Off:
    return {};
  case Policy::Kind::Single:
    return setup_.policy.device < setup_.speeds.size() &&
                   setup_.speeds[setup_.policy.device] > 0
               ? split()
               : Decision{};
  case Policy::Kind::Auto:
    return nextAuto();
  default:
    return split();
  }
}

ShareController::Decision ShareController::nextAuto() {
  if (restingLaunches_ > 0) {
    if (--restingLaunches_ == 0)
      homeSeconds_ = -1;
    return {};
  }
  if (homeSeconds_ < 0)
    return {Action::Measure, {}};
  return split();
}

void ShareController::observeHome(double seconds) {
  homeSeconds_ = seconds;
  judgedSeconds_ = 0;
  splits_ = 0;
  if (seconds < setup_.minLaunchSeconds) {
    restingLaunches_ = rest_;
    rest_ = std::min(longestRest, rest_ * 4);
  }
}

void ShareController::observeSplit(std::span<const solver::DeviceSample> samples,
                                   std::uint64_t totalGroups, double wallSeconds) {
  solver_->observe(samples, totalGroups);
  if (setup_.policy.kind != Policy::Kind::Auto)
    return;
  ++splits_;
  if (splits_ > splitsBeforeVerdict - judgedSplits)
    judgedSeconds_ += wallSeconds;
  if (splits_ < splitsBeforeVerdict)
    return;
  if (judgedSeconds_ / judgedSplits > homeSeconds_) {
    restingLaunches_ = rest_;
    rest_ = std::min(longestRest, rest_ * 4);
  }
  splits_ = 0;
  judgedSeconds_ = 0;
}

} // namespace libsplit::runtime
