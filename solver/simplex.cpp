#include "solver/simplex.h"

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
  return sample.groupEnd > sample.groupBegin && std::isfinite(sample.seconds) && sample.seconds > 0;
}

} // namespace libsplit::solver
