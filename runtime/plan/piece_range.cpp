#include "runtime/plan/piece_range.h"

#include <algorithm>
#include <numeric>

namespace libsplit::runtime {

namespace {

/// What drivers choose where they can: enough for a GPU's unit, and for a CPU's loop to be worth
/// its overhead.
constexpr std::uint64_t goodGroup = 256;
/// A smaller group than this, for want of divisors, is worse than what the driver finds.
constexpr std::uint64_t leastGroup = 32;
/// In several dimensions the first gets at most the one, and at least the other: neighbours read
/// neighbouring bytes.
constexpr std::uint64_t longestRow = 64, leastRow = 8;
constexpr std::uint64_t leastUnits = 64; ///< that a dimension is cut in, if it has so many items

std::uint64_t powerOfTwoUpTo(std::uint64_t most) {
  std::uint64_t power = 1;
  while (power * 2 <= most)
    power *= 2;
  return power;
}

std::uint64_t largestDivisor(std::uint64_t value, std::uint64_t most) {
  std::uint64_t divisor = std::min(value, most);
  while (value % divisor != 0)
    --divisor;
  return divisor;
}

/// One for all pieces of the launch; all 0 if there is no good one and none is needed.
std::array<std::uint64_t, 3> commonLocal(const NDRange& range, unsigned dimension,
                                         const GroupLimits& limits, bool needed) {
  std::array<std::uint64_t, 3> local{1, 1, 1};
  std::uint64_t left = std::min(goodGroup, limits.items), items = 1;
  for (unsigned d = 0; d < range.dimensions; ++d) {
    std::uint64_t most = std::max<std::uint64_t>(1, std::min(left, limits.byDimension[d]));
    if (d == 0 && range.dimensions > 1)
      most = std::min(most, longestRow);
    // Pieces are whole units, powers of two; the rest is apart. Across the cut nothing may remain.
    local[d] = d == dimension ? powerOfTwoUpTo(std::min(most, range.local[d]))
                              : largestDivisor(range.global[d], most);
    left /= local[d];
    items *= local[d];
  }
  const bool isGood = items >= leastGroup && local[0] >= std::min(leastRow, range.global[0]);
  // A few work-items are soon done, however they are grouped.
  const bool isShort =
      range.global[0] * range.global[1] * range.global[2] < leastGroup * leastUnits;
  return isGood || isShort || needed ? local : std::array<std::uint64_t, 3>{0, 0, 0};
}

/// Makes `local` divide also a box that is cut across `dimension`. Whether it is a good one still.
bool narrowTo(std::array<std::uint64_t, 3>& local, const NDRange& range, const EnqueuedRange& body,
              unsigned dimension) {
  bool isNarrower = false;
  std::uint64_t items = 1;
  for (unsigned d = 0; d < range.dimensions; ++d) {
    if (d != dimension && body.global[d] != range.global[d]) {
      const std::uint64_t begin = body.offset[d] - range.offset[d];
      const std::uint64_t fits = std::gcd(local[d], std::gcd(begin, body.global[d]));
      isNarrower = isNarrower || fits != local[d];
      local[d] = fits;
    }
    items *= local[d];
  }
  return !isNarrower || items >= leastGroup;
}

} // namespace

std::uint64_t cutUnit(unsigned d, std::uint64_t global) {
  std::uint64_t unit = d == 0 ? goodGroup : 16;
  while (unit > 1 && global / unit < leastUnits)
    unit /= 2;
  return unit;
}

EnqueuedRange enqueuedRange(const NDRange& range, bool localGiven, const GroupBox& box) {
  EnqueuedRange body;
  body.localGiven = localGiven;
  for (unsigned d = 0; d < 3; ++d) {
    const std::uint64_t begin = box.begin[d] * range.local[d];
    const std::uint64_t end = std::min(box.end[d] * range.local[d], range.global[d]);
    body.offset[d] = range.offset[d] + begin;
    body.global[d] = end - begin;
    body.local[d] = range.local[d];
  }
  return body;
}

PieceRange pieceRange(const NDRange& range, bool localGiven, const GroupBox& box,
                      unsigned dimension, const GroupLimits& limits, bool chosen) {
  PieceRange piece{enqueuedRange(range, localGiven, box), {}};
  if (localGiven)
    return piece;
  EnqueuedRange& body = piece.body;
  auto local = commonLocal(range, dimension, limits, chosen);
  if (local[0] == 0)
    return piece;
  if (!narrowTo(local, range, body, dimension) && !chosen)
    return piece;
  auto take = [&](EnqueuedRange& part) {
    part.localGiven = true;
    std::copy(local.begin(), local.end(), part.local.begin());
  };
  // One work-item after the other, where the driver may not choose.
  auto takeForRest = [&](EnqueuedRange& rest) {
    if (!chosen)
      return;
    take(rest);
    rest.local[dimension] = 1;
  };
  const std::uint64_t remains = body.global[dimension] % local[dimension];
  if (remains == body.global[dimension]) { // only the rest
    takeForRest(body);
    return piece;
  }
  if (remains > 0) {
    EnqueuedRange& rest = piece.rests.emplace_back(body);
    rest.global[dimension] = remains;
    rest.offset[dimension] += body.global[dimension] - remains;
    takeForRest(rest);
    body.global[dimension] -= remains;
  }
  take(body);
  return piece;
}

PieceRange shapedRange(const NDRange& range, const GroupBox& box, const GroupShape& shape) {
  const EnqueuedRange all = enqueuedRange(range, false, box);
  PieceRange piece;
  // By bit: in that dimension what remains behind the whole groups, in place of these.
  for (unsigned remaining = 0; remaining < 1u << range.dimensions; ++remaining) {
    EnqueuedRange part = all;
    part.localGiven = true;
    bool isEmpty = false;
    for (unsigned d = 0; d < 3; ++d) {
      const std::size_t group = std::min<std::size_t>(shape.local[d], all.global[d]);
      const std::size_t remains = all.global[d] % group;
      if ((remaining >> d & 1) == 0) {
        part.global[d] = all.global[d] - remains;
        part.local[d] = group;
      } else {
        isEmpty = isEmpty || remains == 0;
        part.offset[d] += all.global[d] - remains;
        part.global[d] = part.local[d] = remains;
      }
    }
    if (remaining == 0)
      piece.body = part;
    else if (!isEmpty)
      piece.rests.push_back(part);
  }
  return piece;
}

std::string toString(const GroupShape& shape, unsigned dimensions) {
  if (shape.isOpen())
    return "the driver's";
  std::string text = std::to_string(shape.local[0]);
  for (unsigned d = 1; d < dimensions; ++d)
    text += 'x' + std::to_string(shape.local[d]);
  return text;
}

std::array<std::uint64_t, 3> firstGroup(const NDRange& range, const EnqueuedRange& part) {
  std::array<std::uint64_t, 3> first{};
  for (unsigned d = 0; d < 3; ++d)
    first[d] = (part.offset[d] - range.offset[d]) / part.local[d];
  return first;
}

} // namespace libsplit::runtime
