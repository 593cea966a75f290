#include "runtime/plan/pool.h"

#include <algorithm>

namespace libsplit::runtime {

Placement placeBuffer(std::uint64_t size, bool takesHost, const PoolMemory& memory) {
  // So little is not worth being looked after.
  constexpr std::uint64_t smallPart = 256;
  if (size > memory.all)
    return Placement::TooLarge;
  const std::uint64_t room = roomForBuffers(memory.home);
  const bool fitsAtHome = memory.atHome <= room && size <= room - memory.atHome;
  if (size <= memory.homeLargest && (fitsAtHome || size <= memory.home / smallPart))
    return Placement::AtHome;
  const bool fitsInHost = memory.pooled <= memory.host && size <= memory.host - memory.pooled;
  return fitsInHost || !takesHost ? Placement::Pooled : Placement::NoRoom;
}

namespace {

/// So many groups from `begin` on, up to `most`, fit; 0: not even one.
std::uint64_t mostThatFit(std::uint64_t begin, std::uint64_t most,
                          const std::function<bool(const Batch&)>& fits) {
  if (fits({begin, begin + most}))
    return most;
  std::uint64_t fitting = 0, tooMany = most;
  while (tooMany - fitting > 1) {
    const std::uint64_t middle = fitting + (tooMany - fitting) / 2;
    (fits({begin, begin + middle}) ? fitting : tooMany) = middle;
  }
  return fitting;
}

} // namespace

std::vector<Batch> batchesOf(std::uint64_t begin, std::uint64_t end,
                             const std::function<bool(const Batch&)>& fits) {
  std::vector<Batch> batches;
  // Mostly all batches are of one size. The first may be special, at the border of a grid.
  for (std::uint64_t most = end - begin; begin < end;) {
    const std::uint64_t groups = mostThatFit(begin, std::min(most, end - begin), fits);
    if (groups == 0)
      return {};
    batches.push_back({begin, begin + groups});
    begin += groups;
    most = groups + groups / 8;
  }
  return batches;
}

} // namespace libsplit::runtime
