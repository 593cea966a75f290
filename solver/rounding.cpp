// Largest remainder (Hamilton's method): every device gets the floor of its quota, and the units
// that are left go to the largest fractional parts. No device is off its quota by a unit or more.
#include "solver/share_solver.h"

#include <algorithm>
#include <cmath>

namespace libsplit::solver {

namespace {

/// What a share counts for: absurd ones nothing.
double weight(double share) {
  return std::isfinite(share) && share > 0 ? share : 0;
}

} // namespace

void roundToGroups(std::span<const double> shares, std::uint64_t totalGroups,
                   std::uint64_t granularity, std::span<std::uint64_t> groups) {
  std::fill(groups.begin(), groups.end(), std::uint64_t{0});
  if (shares.empty() || groups.size() != shares.size() || totalGroups == 0)
    return;
  granularity = std::max<std::uint64_t>(granularity, 1);
  const std::uint64_t units = totalGroups / granularity;

  std::size_t widest = 0;
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (weight(shares[i]) > weight(shares[widest]))
      widest = i;
  const double largest = weight(shares[widest]);
  auto relative = [&](std::size_t i) { return largest > 0 ? weight(shares[i]) / largest : 1.0; };
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i)
    sum += relative(i);
  auto quota = [&](std::size_t i) { return relative(i) / sum * static_cast<double>(units); };

  std::uint64_t given = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    groups[i] = std::min(static_cast<std::uint64_t>(quota(i)), units - given);
    given += groups[i];
  }
  while (given < units) {
    std::size_t best = 0;
    double most = -2;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double remainder = quota(i) - static_cast<double>(groups[i]);
      if (remainder > most) {
        most = remainder;
        best = i;
      }
    }
    // More than one unit at a time only where doubles no longer tell units apart.
    const std::uint64_t left = units - given;
    const std::uint64_t step =
        most <= 0 ? left
                  : std::min(left, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(most)));
    groups[best] += step;
    given += step;
  }

  // What granularity leaves over goes to the last device that works, the one with the largest
  // share if none does.
  std::size_t last = widest;
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (groups[i] > 0)
      last = i;
  for (std::uint64_t& g : groups)
    g *= granularity;
  groups[last] += totalGroups - units * granularity;
}

std::vector<std::uint64_t> roundToGroups(std::span<const double> shares, std::uint64_t totalGroups,
                                         std::uint64_t granularity) {
  std::vector<std::uint64_t> groups(shares.size(), 0);
  roundToGroups(shares, totalGroups, granularity, groups);
  return groups;
}

} // namespace libsplit::solver
