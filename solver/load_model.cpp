#include "solver/load_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace libsplit::solver {

namespace {

// Inverse variances, in units of log seconds.
constexpr double dataWeight = 1 / (0.03 * 0.03);    // timings are good to 3 %
constexpr double bendWeight = 1 / (0.25 * 0.25);    // density, bin to bin, per fit
constexpr double roughWeight = 1;                   // density, bin to bin, at all
constexpr double levelWeight = 0.05;                // density, from even; fixes the scale
constexpr double costWeight = 0.05;                 // speeds are free
constexpr double latencyWeight = 1 / (0.15 * 0.15); // latency, as a part of a typical launch

constexpr double calmAging = 0.85;     // weight of the launch before, while all is as predicted
constexpr double surprisedAging = 0.3; // and where it is not
constexpr double leastWeight = 0.01;   // below, a sample is forgotten
constexpr double contradiction = 0.25; // log seconds off: the device changed
// A device's first timing may hold what its driver compiled. Until there is a second it is good to
// a factor of two, as others are to 3 %; so it stays where groups took more than twice the
// second's.
constexpr double firstFactor = 2;
constexpr double firstWeight = 1 / (dataWeight * 0.7 * 0.7); // 0.7 = log 2
constexpr int maxIterations = 12;

} // namespace

LoadModel::LoadModel(Eigen::Index devices)
    : devices_(devices), timings_(Vector::Zero(devices)), firstLogCost_(timings_),
      logCost_(Vector::Zero(devices)), latency_(Vector::Zero(devices)),
      moving_(Vector::Zero(devices)), start_(Vector::Zero(devices)),
      lastOff_(Vector::Zero(devices)), reference_(Vector::Zero(devices)),
      normal_(2 * devices + bins, 2 * devices + bins), gradient_(2 * devices + bins),
      jacobian_(2 * devices + bins), anchor_(2 * devices + bins), cholesky_(2 * devices + bins) {
  density_.fill(1);
  samples_.reserve(capacity);
}

double LoadModel::speed(Eigen::Index device) const {
  return knows(device) ? std::exp(-logCost_[device]) : 0;
}

double LoadModel::work(double begin, double end) const {
  double sum = 0;
  for (int b = static_cast<int>(begin * bins); b < bins; ++b) {
    const double low = std::max(begin, static_cast<double>(b) / bins);
    const double high = std::min(end, static_cast<double>(b + 1) / bins);
    if (low >= high && b > begin * bins)
      break;
    sum += std::max(0.0, high - low) * density_[static_cast<std::size_t>(b)];
  }
  return sum;
}

double LoadModel::seconds(Eigen::Index device, double begin, double end, double groups) const {
  if (end <= begin)
    return 0;
  return start_[device] + atWork(device, begin, end, groups) +
         moving_[device] * groups * (end - begin);
}

/// The part of `seconds` that is learnt.
double LoadModel::atWork(Eigen::Index device, double begin, double end, double groups) const {
  return latency_[device] + std::exp(logCost_[device]) * groups * work(begin, end);
}

/// What the sample's seconds are thought to be.
double LoadModel::expected(const LoadSample& sample) const {
  return atWork(sample.device, sample.begin, sample.end, sample.groups);
}

double LoadModel::reach(Eigen::Index device, double begin, double limit, double groups) const {
  double left = limit - start_[device] - latency_[device];
  if (left <= 0)
    return begin;
  const double cost = std::exp(logCost_[device]) * groups;
  const double moving = moving_[device] * groups;
  double at = begin;
  for (int b = std::min(static_cast<int>(begin * bins), bins - 1); b < bins; ++b) {
    const double high = static_cast<double>(b + 1) / bins;
    const double rate = cost * density_[static_cast<std::size_t>(b)] + moving;
    const double bin = rate * (high - at);
    if (bin > left)
      return at + left / rate;
    left -= bin;
    at = high;
  }
  return 1;
}

void LoadModel::describe(LoadProfile& profile, double groups) const {
  const auto n = static_cast<std::size_t>(devices_);
  profile.fixed.resize(n);
  profile.whole.resize(n);
  for (Eigen::Index d = 0; d < devices_; ++d) {
    profile.fixed[static_cast<std::size_t>(d)] = start_[d] + latency_[d];
    profile.whole[static_cast<std::size_t>(d)] =
        knows(d) ? std::exp(logCost_[d]) * groups : std::numeric_limits<double>::infinity();
  }
  profile.work.resize(bins + 1);
  profile.work[0] = 0;
  for (std::size_t b = 0; b < bins; ++b)
    profile.work[b + 1] = profile.work[b] + density_[b] / bins;
}

double LoadProfile::seconds(std::size_t device, double begin, double end) const {
  auto upTo = [&](double x) {
    if (work.size() < 2)
      return x;
    const double at = std::clamp(x, 0.0, 1.0) * static_cast<double>(work.size() - 1);
    const auto bin = std::min(static_cast<std::size_t>(at), work.size() - 2);
    return work[bin] + (at - static_cast<double>(bin)) * (work[bin + 1] - work[bin]);
  };
  return end > begin ? fixed[device] + whole[device] * (upTo(end) - upTo(begin)) : 0;
}

double LoadModel::makespan(const Vector& shares, double groups) const {
  double at = 0;
  double longest = 0;
  for (Eigen::Index d = 0; d < devices_; ++d) {
    const double end = std::min(1.0, at + shares[d]);
    longest = std::max(longest, seconds(d, at, end, groups));
    at = end;
  }
  return longest;
}

double LoadModel::balance(Vector& shares, double groups, const Vector& limits) const {
  auto usable = [&](Eigen::Index d) { return knows(d) && limits[d] > 0; };
  // The end of what `d` does from `at` within `limit`, in whole groups: half a group is none, and
  // one group on a slow device may cost more than the whole launch.
  auto endOf = [&](Eigen::Index d, double at, double limit) {
    const double end = std::min(reach(d, at, limit, groups), at + limits[d]);
    return end >= 1 ? 1 : std::floor(end * groups + 1e-6) / groups;
  };
  // How far the devices get by `limit`, each taking all it can: no other cut gets further.
  auto covered = [&](double limit) {
    double at = 0;
    for (Eigen::Index d = 0; d < devices_ && at < 1; ++d)
      if (usable(d))
        at = std::max(at, endOf(d, at, limit));
    return at;
  };
  double high = 0;
  for (Eigen::Index d = 0; d < devices_; ++d)
    if (usable(d)) {
      const double alone = seconds(d, 0, 1, groups);
      high = high > 0 ? std::min(high, alone) : alone;
    }
  shares.setZero();
  if (high <= 0) {
    normalize(shares);
    return 0;
  }
  high *= 1 + 1e-9;
  double low = 0;
  for (int i = 0; i < 48 && high - low > 1e-6 * high; ++i) {
    const double middle = (low + high) / 2;
    (covered(middle) >= 1 ? high : low) = middle;
  }
  double at = 0;
  for (Eigen::Index d = 0; d < devices_; ++d)
    if (usable(d)) {
      const double end = std::max(at, endOf(d, at, high));
      shares[d] = end - at;
      at = end;
    }
  normalize(shares);
  return high;
}

void LoadModel::keep(const LoadSample& sample) {
  if (samples_.size() == capacity)
    samples_.erase(samples_.begin()); // the oldest
  samples_.push_back(sample);
}

/// True if the samples are further off than noise makes them, or off in the same direction again:
/// then the load drifts and the past counts less. Keeps the noise up to date.
bool LoadModel::surprised(std::span<const LoadSample> samples) {
  double sum = 0;
  double worst = 0;
  double before = 0;
  double product = 0;
  int count = 0;
  for (const LoadSample& s : samples)
    if (knows(s.device)) {
      const double off = std::clamp(std::log(s.seconds / expected(s)), -1.0, 1.0);
      sum += off * off;
      worst = std::max(worst, std::abs(off));
      before += lastOff_[s.device] * lastOff_[s.device];
      product += off * lastOff_[s.device];
      lastOff_[s.device] = off;
      ++count;
    }
  if (count == 0)
    return false;
  const double rms = std::sqrt(sum / count);
  const bool large = rms > 2 * noise_;
  noise_ = std::max(0.005, noise_ + 0.3 * (std::min(rms, 2 * noise_) - noise_));
  const double correlation = sum > 0 && before > 0 ? product / std::sqrt(sum * before) : 0;
  drift_ += 0.5 * (correlation - drift_);
  return large || worst > contradiction || drift_ > 0.4;
}

void LoadModel::learn(std::span<const LoadSample> samples) {
  bool calm = !surprised(samples);
  for (LoadSample& s : samples_)
    s.weight *= calm ? calmAging : surprisedAging;
  for (const LoadSample& s : samples) {
    keep(s);
    double& timings = timings_[s.device];
    const double logCost = std::log(s.seconds / (s.groups * std::max(1e-12, s.end - s.begin)));
    if (timings == 0) {
      calm = false;
      logCost_[s.device] = firstLogCost_[s.device] = logCost;
      samples_.back().weight *= firstWeight;
    } else if (timings == 1 && firstLogCost_[s.device] < logCost + std::log(firstFactor)) {
      for (LoadSample& first : samples_)
        if (first.device == s.device && &first != &samples_.back())
          first.weight /= firstWeight;
    }
    timings = std::min(2.0, timings + 1);
  }
  forgetFaint();
  early_ = std::max(0, early_ - 1);
  ++waiting_;
  if (calm && early_ == 0 && waiting_ < calmLaunches)
    return;
  waiting_ = 0;
  fit();
  // One sample per device, and no speeds and density explain both it and the past: it changed.
  if (samples.size() > static_cast<std::size_t>(devices_))
    return;
  bool changed = false;
  for (const LoadSample& s : samples) {
    const double off = std::log(s.seconds / expected(s));
    if (std::abs(off) < contradiction)
      continue;
    changed = true;
    logCost_[s.device] += off;
    for (LoadSample& old : samples_)
      if (old.device == s.device && old.weight < 1)
        old.weight = 0;
  }
  if (changed) {
    forgetFaint();
    fit();
  }
}

/// But of a device that has no other.
void LoadModel::forgetFaint() {
  std::erase_if(samples_, [this](const LoadSample& s) {
    return s.weight < leastWeight && !isDoubtful(s.device);
  });
}

/// Pulls towards where this fit began: the gradient is of the distance from `anchor_`.
void LoadModel::addPrior() {
  const Eigen::Index first = 2 * devices_;
  for (Eigen::Index d = 0; d < devices_; ++d) {
    normal_(d, d) += costWeight;
    gradient_[d] += costWeight * (anchor_[d] - logCost_[d]);
    normal_(devices_ + d, devices_ + d) += latencyWeight;
    gradient_[devices_ + d] -=
        (reference_[d] > 0 ? latencyWeight * latency_[d] / reference_[d] : 0);
  }
  // Towards an even density; on the whole neither up nor down, which would take along the costs of
  // devices that hardly any sample holds.
  const double level = anchor_.segment(first, bins).mean();
  for (int b = 0; b < bins; ++b) {
    normal_(first + b, first + b) += levelWeight;
    gradient_[first + b] += levelWeight * (level - logDensity_[static_cast<std::size_t>(b)]);
  }
  for (int b = 0; b + 1 < bins; ++b) {
    const auto i = first + b;
    const double slope =
        logDensity_[static_cast<std::size_t>(b) + 1] - logDensity_[static_cast<std::size_t>(b)];
    const double pull = bendWeight * (slope - (anchor_[i + 1] - anchor_[i])) + roughWeight * slope;
    constexpr double weight = bendWeight + roughWeight;
    normal_(i, i) += weight;
    normal_(i + 1, i + 1) += weight;
    normal_(i, i + 1) -= weight;
    normal_(i + 1, i) -= weight;
    gradient_[i] += pull;
    gradient_[i + 1] -= pull;
  }
}

void LoadModel::fit() {
  const Eigen::Index first = 2 * devices_;
  reference_.setZero();
  for (const LoadSample& s : samples_)
    reference_[s.device] = s.seconds; // the last of each
  for (Eigen::Index d = 0; d < devices_; ++d)
    anchor_[d] = logCost_[d];
  for (int b = 0; b < bins; ++b)
    anchor_[first + b] = logDensity_[static_cast<std::size_t>(b)];

  for (int iteration = 0; iteration < maxIterations; ++iteration) {
    normal_.setZero();
    gradient_.setZero();
    for (const LoadSample& s : samples_) {
      const double inside = std::max(1e-300, work(s.begin, s.end));
      const double variable = std::exp(logCost_[s.device]) * s.groups * inside;
      const double predicted = latency_[s.device] + variable;
      const double residual = std::log(s.seconds / predicted);
      // A sample that stays far off counts less (Cauchy weights), once the rest had its say.
      const double scale = iteration < 3 ? 2 : 0.15;
      const double robust = 1 / (1 + residual * residual / (scale * scale));
      const double weight = dataWeight * s.weight * robust;
      jacobian_.setZero();
      jacobian_[s.device] = variable / predicted;
      jacobian_[devices_ + s.device] = reference_[s.device] / predicted;
      const int from = std::min(static_cast<int>(s.begin * bins), bins - 1);
      int to = from;
      for (; to < bins && static_cast<double>(to) < s.end * bins; ++to) {
        const double low = std::max(s.begin, static_cast<double>(to) / bins);
        const double high = std::min(s.end, static_cast<double>(to + 1) / bins);
        jacobian_[first + to] = variable / predicted * std::max(0.0, high - low) *
                                density_[static_cast<std::size_t>(to)] / inside;
      }
      // The Jacobian has two entries and one stretch: add the outer product of these alone.
      const Eigen::Index own[] = {s.device, devices_ + s.device};
      auto stretch = jacobian_.segment(first + from, to - from);
      for (const Eigen::Index i : own) {
        for (const Eigen::Index j : own)
          normal_(i, j) += weight * jacobian_[i] * jacobian_[j];
        normal_.col(i).segment(first + from, to - from) += weight * jacobian_[i] * stretch;
        gradient_[i] += weight * jacobian_[i] * residual;
      }
      normal_.block(first + from, first + from, to - from, to - from).noalias() +=
          weight * stretch * stretch.transpose();
      gradient_.segment(first + from, to - from) += weight * residual * stretch;
    }
    addPrior();
    // Cholesky reads the lower triangle: rows of the density against the columns of the devices.
    cholesky_.compute(normal_);
    if (cholesky_.info() != Eigen::Success)
      return;
    cholesky_.solveInPlace(gradient_);
    if (!gradient_.allFinite())
      return;
    const double step = gradient_.cwiseAbs().maxCoeff();
    for (Eigen::Index d = 0; d < devices_; ++d) {
      if (!(reference_[d] > 0))
        continue;
      logCost_[d] += std::clamp(gradient_[d], -2.0, 2.0);
      latency_[d] = std::clamp(latency_[d] + gradient_[devices_ + d] * reference_[d], 0.0,
                               0.95 * reference_[d]);
    }
    double sum = 0;
    for (int b = 0; b < bins; ++b) {
      auto& value = logDensity_[static_cast<std::size_t>(b)];
      value = std::clamp(value + std::clamp(gradient_[first + b], -2.0, 2.0), -9.0, 9.0);
      sum += std::exp(value);
    }
    const double scale = std::log(sum / bins); // mean density 1; the costs take the scale
    for (int b = 0; b < bins; ++b) {
      auto& value = logDensity_[static_cast<std::size_t>(b)];
      value -= scale;
      density_[static_cast<std::size_t>(b)] = std::exp(value);
    }
    for (Eigen::Index d = 0; d < devices_; ++d)
      if (reference_[d] > 0) { // of the others nothing was explained
        logCost_[d] += scale;
        anchor_[d] += scale;
      }
    for (int b = 0; b < bins; ++b)
      anchor_[first + b] -= scale;
    if (step < 1e-3 && iteration >= 3)
      return;
  }
}

} // namespace libsplit::solver
