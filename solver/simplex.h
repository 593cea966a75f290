// Points of the unit simplex (shares of n devices, non-negative and summing to 1), and what the
// methods of the paper need of a launch's timings.
#pragma once

#include "solver/share_solver.h"

#include <Eigen/Core>

#include <span>

namespace libsplit::solver {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// Makes `shares` a point of the simplex: entries that are negative or not finite become 0, the
/// rest are scaled to sum 1; uniform if nothing is left. Allocates nothing.
void normalize(Vector& shares);

/// `initial` on the simplex; uniform over `devices` if `initial` is empty.
Vector makeShares(std::span<const double> initial, std::size_t devices);

/// True if `sample` tells a speed: it had groups, and its seconds are finite and positive.
bool measures(const DeviceSample& sample);

inline std::span<const double> view(const Vector& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

/// F of the paper, from measurements.
///
/// With f_i the mean seconds per work-group that device i just showed,
///     F(x)_i = T / (f_i * numgroups),   T = numgroups / sum_j 1/f_j,
/// that is F(x)_i = (1/f_i) / sum_j (1/f_j): work in proportion to the speed shown. A device
/// without work keeps the speed it showed last; one that never ran gets nothing. Neither moving nor
/// being given its part later than others is execution. Were it, the device that got more by a
/// change of shares, and waited for bytes once, would seem slow and lose what it got, and so on for
/// ever. What moves in each launch is not balanced either; `auto` does that.
class Measurement {
public:
  explicit Measurement(Eigen::Index devices)
      : x(Vector::Zero(devices)), y(Vector::Zero(devices)), speeds(Vector::Zero(devices)) {}

  /// False if no device gave a usable timing; then nothing changes.
  bool take(std::span<const DeviceSample> samples, std::uint64_t totalGroups);

  Vector x;             ///< the shares that the launch really had
  Vector y;             ///< F(x)
  Vector speeds;        ///< groups per second
  double imbalance = 0; ///< slowest over mean seconds of the devices that worked, minus 1
};

} // namespace libsplit::solver
