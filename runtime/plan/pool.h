// Where the program's buffers lie when the memories of all devices count as one (session/pool.h),
// and how much of a launch a device can do at once. Pure.
//
// Worked example: two devices of 10 GiB each, of which 9.375 are for buffers, and 30 GiB of the
// host's memory. The program's first buffer of 8 GiB is one of its own device. A second one of 8
// GiB does not fit beside it, and one of 12 GiB nowhere at all: they are pooled, and take 20 of the
// host's 30 GiB where no device has them. A third one of 12 GiB is refused: nobody could keep it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace libsplit::runtime {

/// What there is, and what is taken, in bytes.
struct PoolMemory {
  std::uint64_t home = 0;        ///< the program's own device's memory
  std::uint64_t homeLargest = 0; ///< … and what it allows one buffer
  std::uint64_t all = 0;         ///< of all devices together, as the program is told
  std::uint64_t host = 0;        ///< for pooled buffers
  std::uint64_t atHome = 0;      ///< taken on the program's own device
  std::uint64_t pooled = 0;      ///< taken of the host's
};

enum class Placement {
  AtHome, ///< as without a pool
  Pooled,
  TooLarge, ///< for what the program was told
  NoRoom,
};

/// Of a device's memory, what buffers may take. Drivers need some themselves.
constexpr std::uint64_t roomForBuffers(std::uint64_t memory) {
  return memory - memory / 16;
}

/// Where a new buffer of `size` bytes, more than 0, is to lie. `takesHost`: pooled, it takes memory
/// of the host's, which is not the program's already.
Placement placeBuffer(std::uint64_t size, bool takesHost, const PoolMemory& memory);

/// Groups that a device does at once.
struct Batch {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Batch&) const = default;
};

/// Groups [begin, end), at least one, in batches of which `fits` says that they do, few of them.
/// Empty: some group does not fit even alone. What fits is taken to fit also where it ends earlier.
std::vector<Batch> batchesOf(std::uint64_t begin, std::uint64_t end,
                             const std::function<bool(const Batch&)>& fits);

} // namespace libsplit::runtime
