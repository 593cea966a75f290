#include "runtime/plan/pool.h"

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

std::uint64_t mostThatFit(std::uint64_t most, const std::function<bool(std::uint64_t)>& fits) {
  if (most == 0 || fits(most))
    return most;
  std::uint64_t fitting = 0, tooMany = most;
  while (tooMany - fitting > 1) {
    const std::uint64_t middle = fitting + (tooMany - fitting) / 2;
    (fits(middle) ? fitting : tooMany) = middle;
  }
  return fitting;
}

} // namespace libsplit::runtime
