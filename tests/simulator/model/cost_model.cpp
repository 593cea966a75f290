#include "tests/simulator/model/cost_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libsplit::simulator {

namespace {

// Standard deviations of the prior, all of logarithms.
constexpr double densityDeviation = 0.7;  // of a bin's work
constexpr double densityLength = 0.35;    // positions over which bins are alike
constexpr double companyDeviation = 0.25; // of the factor of company
constexpr double guessedFixed = 20e-6;    // seconds: a fixed cost, and its deviation

constexpr double guessedNoise = 0.05;
constexpr double leastNoise = 0.004;
constexpr double firstNoise = 0.6;        // of a device's first timing
constexpr double drift = 0.01;            // of everything, per launch, while pace_ is 1
constexpr double tails = 4;               // degrees of freedom of Student's t
constexpr std::uint64_t newInCompany = 4; // timings
constexpr double surprise = 3;            // deviations that are no chance if they come twice

} // namespace

CostModel::CostModel(std::span<const DevicePrior> devices, double wholeSeconds, double deviation)
    : n_(static_cast<Eigen::Index>(devices.size())), mean_(Vector::Zero(3 * n_ + bins)),
      covariance_(Matrix::Zero(3 * n_ + bins, 3 * n_ + bins)), smooth_(bins, bins),
      seen_(devices.size()), seenInCompany_(devices.size()), lastOff_(devices.size()),
      noise_(guessedNoise), derivative_(Vector::Zero(3 * n_ + bins)), other_(derivative_),
      gain_(derivative_) {
  const double reference = devices.empty() ? 1 : std::max(1e-300, devices[0].relative);
  const double common = deviation * deviation;
  const double company = companyDeviation * companyDeviation / 2;
  const double fixed = guessedFixed * guessedFixed / 2;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    mean_[wholeOf(d)] =
        std::log(std::max(1e-9, wholeSeconds) * reference / std::max(1e-300, devices[d].relative));
    mean_[fixedOf(d)] = guessedFixed;
    for (std::size_t e = 0; e < devices.size(); ++e) {
      covariance_(wholeOf(d), wholeOf(e)) = common;
      covariance_(fixedOf(d), fixedOf(e)) = fixed;
      covariance_(companyOf(d), companyOf(e)) = company;
    }
    covariance_(wholeOf(d), wholeOf(d)) += devices[d].deviation * devices[d].deviation;
    covariance_(fixedOf(d), fixedOf(d)) += fixed;
    covariance_(companyOf(d), companyOf(d)) += company;
  }
  for (Eigen::Index a = 0; a < bins; ++a)
    for (Eigen::Index b = 0; b < bins; ++b)
      smooth_(a, b) = densityDeviation * densityDeviation *
                      std::exp(-static_cast<double>(std::abs(a - b)) / bins / densityLength);
  covariance_.block(density(), density(), bins, bins) = smooth_;
  most_ = covariance_.diagonal();
  derivatives_.resize(3 * n_ + bins, n_);
  products_.resize(3 * n_ + bins, n_);
  shared_.resize(n_, n_);
  refreshDensity();
}

void CostModel::refreshDensity() {
  sums_[0] = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    density_[b] = std::exp(mean_[density() + static_cast<Eigen::Index>(b)]);
    sums_[b + 1] = sums_[b] + density_[b] / bins;
  }
}

double CostModel::work(double begin, double end) const {
  auto upTo = [&](double x) {
    const double at = std::clamp(x, 0.0, 1.0) * bins;
    const auto bin = std::min(static_cast<std::size_t>(at), static_cast<std::size_t>(bins - 1));
    return sums_[bin] + (at - static_cast<double>(bin)) * density_[bin] / bins;
  };
  return upTo(end) - upTo(begin);
}

double CostModel::seconds(std::size_t d, double begin, double end, bool hasCompany) const {
  if (end <= begin)
    return 0;
  return fixedSeconds(d) +
         std::exp(mean_[wholeOf(d)] + (hasCompany ? mean_[companyOf(d)] : 0)) * work(begin, end);
}

double CostModel::observe(const PieceOf& piece, Vector& derivative) const {
  const double fixed = guessedFixed * guessedFixed / 2;
  const double rate = std::exp(mean_[wholeOf(piece.device)] +
                               (piece.hasCompany ? mean_[companyOf(piece.device)] : 0));
  const double all = fixed + rate * std::max(1e-12, work(piece.begin, piece.end));
  derivative.setZero();
  derivative[fixedOf(piece.device)] = 1 / all;
  derivative[wholeOf(piece.device)] = 1 - fixed / all;
  if (piece.hasCompany)
    derivative[companyOf(piece.device)] = 1 - fixed / all;
  const auto first = std::min(static_cast<Eigen::Index>(piece.begin * bins), bins - 1);
  for (Eigen::Index b = first; b < bins && static_cast<double>(b) < piece.end * bins; ++b) {
    const double low = std::max(piece.begin, static_cast<double>(b) / bins);
    const double high = std::min(piece.end, static_cast<double>(b + 1) / bins);
    derivative[density() + b] =
        rate * std::max(0.0, high - low) * density_[static_cast<std::size_t>(b)] / all;
  }
  return std::log(all);
}

double CostModel::deviation(std::size_t device, double begin, double end, bool hasCompany) const {
  observe({device, begin, end, hasCompany}, derivative_);
  gain_.noalias() = covariance_ * derivative_;
  return std::sqrt(std::max(0.0, derivative_.dot(gain_)));
}

double CostModel::deviationOfRatio(const PieceOf& a, const PieceOf& b) const {
  observe(a, derivative_);
  observe(b, other_);
  derivative_ -= other_;
  gain_.noalias() = covariance_ * derivative_;
  return std::sqrt(std::max(0.0, derivative_.dot(gain_)));
}

void CostModel::deviationsApart(std::span<const PieceOf> pieces,
                                std::span<double> deviations) const {
  const auto count = static_cast<Eigen::Index>(pieces.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    observe(pieces[static_cast<std::size_t>(i)], derivative_);
    derivatives_.col(i) = derivative_;
  }
  auto left = derivatives_.leftCols(count);
  products_.leftCols(count).noalias() = covariance_ * left;
  shared_.topLeftCorner(count, count).noalias() = left.transpose() * products_.leftCols(count);
  // Beside the mean of all, in which those count most that are known best.
  double sum = 0;
  for (Eigen::Index i = 0; i < count; ++i)
    sum += 1 / (shared_(i, i) + noise_ * noise_);
  double ofMean = 0;
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j < count; ++j)
      ofMean +=
          shared_(i, j) / (shared_(i, i) + noise_ * noise_) / (shared_(j, j) + noise_ * noise_);
  for (Eigen::Index i = 0; i < count; ++i) {
    double withMean = 0;
    for (Eigen::Index j = 0; j < count; ++j)
      withMean += shared_(i, j) / (shared_(j, j) + noise_ * noise_);
    deviations[static_cast<std::size_t>(i)] =
        std::sqrt(std::max(0.0, shared_(i, i) - 2 * withMean / sum + ofMean / (sum * sum)));
  }
}

double CostModel::reach(std::size_t d, double begin, double limit, bool hasCompany,
                        double factor) const {
  double left = limit / factor - fixedSeconds(d);
  if (left <= 0)
    return begin;
  const double rate = std::exp(mean_[wholeOf(d)] + (hasCompany ? mean_[companyOf(d)] : 0));
  double at = begin;
  for (auto b = std::min(static_cast<Eigen::Index>(begin * bins), bins - 1); b < bins; ++b) {
    const double high = static_cast<double>(b + 1) / bins;
    const double each = rate * density_[static_cast<std::size_t>(b)];
    if (each * (high - at) > left)
      return at + left / each;
    left -= each * (high - at);
    at = high;
  }
  return 1;
}

void CostModel::describe(LoadProfile& profile) const {
  profile.fixed.clear();
  profile.whole.clear();
  for (std::size_t d = 0; d < devices(); ++d) {
    profile.fixed.push_back(fixedSeconds(d));
    profile.whole.push_back(hasSeen(d) ? std::exp(mean_[wholeOf(d)]) * sums_[bins]
                                       : std::numeric_limits<double>::infinity());
  }
  profile.work.assign(sums_.begin(), sums_.end());
  for (double& each : profile.work)
    each /= sums_[bins];
}

void CostModel::age(double launches) {
  const double step = drift * drift * pace_ * launches;
  for (std::size_t d = 0; d < devices(); ++d) {
    covariance_(wholeOf(d), wholeOf(d)) += step;
    covariance_(fixedOf(d), fixedOf(d)) += step * guessedFixed * guessedFixed;
  }
  covariance_.block(density(), density(), bins, bins) +=
      step / (densityDeviation * densityDeviation) * smooth_;
  // No drift makes anything less certain than it was in the beginning.
  for (Eigen::Index i = 0; i < most_.size(); ++i)
    if (covariance_(i, i) > most_[i]) {
      const double scale = std::sqrt(most_[i] / covariance_(i, i));
      covariance_.row(i) *= scale;
      covariance_.col(i) *= scale;
    }
}

/// The device, or the load, has changed; or company is worse than anybody could think.
void CostModel::forget(const Timing& timing) {
  const std::size_t d = timing.device;
  const bool isNew =
      timing.hasCompany && seen_[d] > seenInCompany_[d] && seenInCompany_[d] < newInCompany;
  const Eigen::Index what = isNew ? companyOf(d) : wholeOf(d);
  covariance_(what, what) += 1;
  covariance_.block(density(), density(), bins, bins) += 0.25 * smooth_;
}

void CostModel::update(const Timing& timing) {
  const std::size_t d = timing.device;
  const PieceOf piece{d, timing.begin, timing.end, timing.hasCompany};
  // A few groups need not be like their neighbours.
  const double rough =
      noise_ / std::sqrt(std::clamp((timing.end - timing.begin) * bins, 0.02, 1.0));
  const double noise = timing.isFirst ? std::hypot(firstNoise, rough) : rough;
  double off = std::log(timing.seconds) - observe(piece, derivative_);
  gain_.noalias() = covariance_ * derivative_;
  double spread = derivative_.dot(gain_) + noise * noise;
  double far = off / std::sqrt(spread);
  if (!timing.isFirst && !timing.isChunk) {
    const double before = lastOff_[d];
    lastOff_[d] = far;
    if (std::abs(far) > surprise && std::abs(before) > surprise && far * before > 0) {
      forget(timing);
      lastOff_[d] = 0;
      gain_.noalias() = covariance_ * derivative_;
      spread = derivative_.dot(gain_) + noise * noise;
      far = off / std::sqrt(spread);
    } else {
      pace_ = std::clamp(pace_ * std::exp(0.5 * std::clamp(far * before, -1.0, 1.0)), 0.01, 100.0);
      const double surplus = off * off - (spread - noise * noise);
      const double shown = std::clamp(surplus, 0.0, 4 * noise_ * noise_);
      noise_ = std::max(leastNoise, std::sqrt(noise_ * noise_ + 0.1 * (shown - noise_ * noise_)));
    }
  }
  // Student's t as a normal distribution that is wider for what is far off; and the derivative
  // taken again where the first step leads.
  const double wide = noise * noise * (tails + far * far) / (tails + 1);
  const Vector& start = mean_;
  other_ = start;
  for (int round = 0; round < 3; ++round) {
    const double value = observe(piece, derivative_);
    gain_.noalias() = covariance_ * derivative_;
    spread = derivative_.dot(gain_) + wide;
    // Iterated: the residual as if linear around here, from where the launch began.
    off = std::log(timing.seconds) - value - derivative_.dot(other_ - mean_);
    gain_ /= spread;
    mean_ = other_ + gain_ * std::clamp(off, -20.0, 20.0);
    refreshDensity();
    if (round < 2)
      continue;
    covariance_.noalias() -= spread * gain_ * gain_.transpose();
  }
  ++seen_[d];
  seenInCompany_[d] += timing.hasCompany;
}

void CostModel::learn(std::span<const Timing> timings) {
  age(1);
  for (const Timing& timing : timings)
    if (timing.device < devices() && timing.end > timing.begin && timing.seconds > 0 &&
        std::isfinite(timing.seconds))
      update(timing);
}

} // namespace libsplit::simulator
