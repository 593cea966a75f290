// Largest remainder (Hamilton's method): every device gets the floor of its quota, and the units
// that are left go to the largest fractional parts. No device is off its quota by a unit or more.
#include "solver/share_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace libsplit::solver {

std::vector<std::uint64_t> roundToGroups(std::span<const double> shares, std::uint64_t totalGroups,
                                         std::uint64_t granularity) {
  std::vector<std::uint64_t> groups(shares.size(), 0);
  if (shares.empty() || totalGroups == 0)
    return groups;
  granularity = std::max<std::uint64_t>(granularity, 1);
  const std::uint64_t units = totalGroups / granularity;

  std::vector<double> weights(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i)
    weights[i] = std::isfinite(shares[i]) && shares[i] > 0 ? shares[i] : 0;
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (largest > 0)
    for (double& w : weights)
      w /= largest; // so that the sum stays finite
  else
    std::fill(weights.begin(), weights.end(), 1.0);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);

  std::vector<double> remainders(shares.size());
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double quota = weights[i] / sum * static_cast<double>(units);
    groups[i] = std::min(static_cast<std::uint64_t>(quota), units - given);
    remainders[i] = quota - static_cast<double>(groups[i]);
    given += groups[i];
  }
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t k = 0; given < units; ++k, ++given)
    ++groups[order[k % order.size()]];

  // What granularity leaves over goes to the last device that works, the one with the largest
  // share if none does.
  auto last =
      static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (groups[i] > 0)
      last = i;
  for (std::uint64_t& g : groups)
    g *= granularity;
  groups[last] += totalGroups - units * granularity;
  return groups;
}

} // namespace libsplit::solver
