// Points of the unit simplex: shares of n devices, non-negative and summing to 1.
#pragma once

#include "solver/share_solver.h"

#include <Eigen/Core>

#include <span>

namespace libsplit::solver {

/// The shares of a vector whose entries are `n` doubles; storage is taken once, at construction.
using Vector = Eigen::VectorXd;

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

} // namespace libsplit::solver
