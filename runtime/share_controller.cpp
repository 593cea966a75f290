#include "runtime/share_controller.h"

#include <algorithm>
#include <numeric>

namespace libsplit::runtime {

namespace {

/// Splitting is judged by the last `judgedSplits` of every `splitsBeforeVerdict` launches. Their
/// mean, not their best: when launches overlap, only the sum of their times means anything.
constexpr unsigned splitsBeforeVerdict = 6;
constexpr unsigned judgedSplits = 3;
constexpr unsigned longestRest = 4096;
/// In the first split launch a device gets at most this part of what its guessed speed promises: a
/// guess that is wrong by a factor then costs little.
constexpr double caution = 0.25;

std::vector<double> normalised(std::vector<double> values) {
  double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values)
    value = sum > 0 ? value / sum : 1.0 / static_cast<double>(values.size());
  return values;
}

/// The shares of the first split launch under `auto`.
std::vector<double> cautiousShares(std::vector<double> speeds, const std::vector<bool>& likeHome,
                                   std::size_t home) {
  speeds = normalised(std::move(speeds));
  if (home >= speeds.size() || speeds[home] <= 0)
    return speeds;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    if (i != home && !(i < likeHome.size() && likeHome[i]))
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
  for (std::size_t i = 0; i < setup_.speeds.size(); ++i)
    if (setup_.speeds[i] > 0)
      usable_.push_back(i);
  shares_.assign(setup_.speeds.size(), 0.0);
  solver_ = makeSolver();
}

/// The policy's solver, over the usable devices only; null if the policy never splits.
std::unique_ptr<solver::ShareSolver> ShareController::makeSolver() const {
  std::vector<double> uniform(usable_.size(), 1.0 / static_cast<double>(usable_.size()));
  if (usable_.empty())
    return nullptr;
  switch (setup_.policy.kind) {
  case Policy::Kind::Off:
    return nullptr;
  case Policy::Kind::Static: {
    std::vector<double> shares;
    for (std::size_t i : usable_)
      shares.push_back(i < setup_.policy.shares.size() ? setup_.policy.shares[i] : 0);
    return solver::makeStatic(normalised(std::move(shares)));
  }
  case Policy::Kind::Single: {
    std::vector<double> shares;
    for (std::size_t i : usable_)
      shares.push_back(i == setup_.policy.device ? 1 : 0);
    if (std::find(shares.begin(), shares.end(), 1) == shares.end())
      return nullptr;
    return solver::makeStatic(std::move(shares));
  }
  case Policy::Kind::FixedPoint:
    return solver::makeFixedPoint(std::move(uniform));
  case Policy::Kind::Broyden:
    return solver::makeBroyden(std::move(uniform), solver::BroydenUpdate::Good);
  case Policy::Kind::BroydenBad:
    return solver::makeBroyden(std::move(uniform), solver::BroydenUpdate::Bad);
  case Policy::Kind::Auto:
    break;
  }
  solver::AutoOptions options;
  options.devices = static_cast<unsigned>(usable_.size());
  std::vector<double> speeds = cautiousShares(setup_.speeds, setup_.likeHome, setup_.home);
  for (std::size_t i : usable_)
    options.knownSpeeds.push_back(speeds[i]);
  return solver::makeAuto(std::move(options));
}

ShareController::Decision ShareController::split() {
  std::span<const double> proposed = solver_->propose();
  for (std::size_t i = 0; i < usable_.size(); ++i)
    shares_[usable_[i]] = proposed[i];
  return {Action::Split, shares_};
}

ShareController::Decision ShareController::next() {
  if (!solver_)
    return {};
  return setup_.policy.kind == Policy::Kind::Auto ? nextAuto() : split();
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
    restingLaunches_ = shortRest_;
    shortRest_ = std::min(longestRest, shortRest_ * 4);
  }
}

void ShareController::observeSplit(std::span<const solver::DeviceSample> samples,
                                   std::uint64_t totalGroups, double wallSeconds) {
  usableSamples_.clear();
  for (std::size_t i : usable_)
    usableSamples_.push_back(samples[i]);
  solver_->observe(usableSamples_, totalGroups);
  if (setup_.policy.kind != Policy::Kind::Auto)
    return;
  ++splits_;
  if (splits_ > splitsBeforeVerdict - judgedSplits)
    judgedSeconds_ += wallSeconds;
  if (splits_ < splitsBeforeVerdict)
    return;
  if (judgedSeconds_ / judgedSplits > homeSeconds_) {
    restingLaunches_ = rest_;
    rest_ = std::min(longestRest, rest_ * 2);
  }
  splits_ = 0;
  judgedSeconds_ = 0;
}

} // namespace libsplit::runtime
