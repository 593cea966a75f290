#include "solver/simplex.h"

#include <algorithm>
#include <cmath>

namespace libsplit::solver {

void normalize(Vector& shares) {
  double largest = 0;
  for (double& x : shares) {
    if (!(x > 0) || !std::isfinite(x))
      x = 0;
    largest = std::max(largest, x);
  }
  if (largest <= 0) {
    shares.setConstant(shares.size() ? 1.0 / static_cast<double>(shares.size()) : 0.0);
    return;
  }
  shares /= largest; // so that the sum neither overflows nor vanishes
  shares /= shares.sum();
}

Vector makeShares(std::span<const double> initial, std::size_t devices) {
  Vector shares = Vector::Zero(static_cast<Eigen::Index>(devices));
  for (std::size_t i = 0; i < std::min(initial.size(), devices); ++i)
    shares[static_cast<Eigen::Index>(i)] = initial[i];
  normalize(shares);
  return shares;
}

bool measures(const DeviceSample& sample) {
  // Beyond these bounds a clock was wrong; inside them no quotient overflows.
  return sample.groupEnd > sample.groupBegin && sample.seconds > 1e-12 && sample.seconds < 1e12;
}

bool Measurement::take(std::span<const DeviceSample> samples, std::uint64_t totalGroups) {
  if (samples.size() != static_cast<std::size_t>(x.size()) || totalGroups == 0)
    return false;
  double slowest = 0;
  double sum = 0;
  int workers = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const DeviceSample& s = samples[static_cast<std::size_t>(i)];
    const double seconds = s.workSeconds();
    if (!measures({s.groupBegin, s.groupEnd, seconds}))
      continue;
    speeds[i] = static_cast<double>(s.groupEnd - s.groupBegin) / seconds;
    slowest = std::max(slowest, seconds);
    sum += seconds;
    ++workers;
  }
  if (workers == 0)
    return false;
  imbalance = slowest * workers / sum - 1;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const DeviceSample& s = samples[static_cast<std::size_t>(i)];
    x[i] = s.groupEnd > s.groupBegin ? static_cast<double>(s.groupEnd - s.groupBegin) : 0;
    if (x[i] > 0 && speeds[i] <= 0) // worked, but its clock failed: as fast as it needed to be
      speeds[i] = x[i] * workers / sum;
  }
  normalize(x);
  y = speeds;
  normalize(y);
  return true;
}

const char* toString(Stop stop) {
  switch (stop) {
  case Stop::Searching:
    return "searching";
  case Stop::Converged:
    return "converged";
  case Stop::SingularUpdate:
    return "singular update";
  case Stop::LeftSimplex:
    return "left the simplex";
  case Stop::Diverged:
    return "diverged";
  case Stop::NotMeasured:
    return "not measured";
  }
  return "?";
}

} // namespace libsplit::solver
