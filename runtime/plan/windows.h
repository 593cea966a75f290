// Which bytes of buffers a device's copies hold, where its memory may not take them all. Pure.
//
// A copy is whole if all copies that a launch needs on the device fit there so; else it is a window
// (runtime/device/README.md). A copy that covers what is touched stays as it is, unless that leaves
// too little for the others: to make it anew its bytes have to travel.
//
// Worked example: a device of 10 GiB that holds nothing, two buffers of 8 GiB, of each of which
// [4, 6) is touched. Both together are 16 GiB: so each gets [3.75, 6.25). Later [5, 7) of both is
// touched, and both become [3.75, 7) with slack, [3.75, 7.25).
#pragma once

#include "analysis-pass/summary/byte_set.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libsplit::runtime {

/// What is asked of a device's copy of a buffer.
struct CopyWish {
  std::uint64_t size = 0;       ///< of the buffer, in bytes
  ByteRange touched;            ///< of it; empty: none
  std::optional<ByteRange> has; ///< what the copy holds; nothing: there is none
  bool mayBeWhole = true;       ///< false: the driver refused one
};

struct WindowLimits {
  std::uint64_t room = 0;      ///< bytes that all these copies may take together
  std::uint64_t largest = 0;   ///< … that one takes for certain; larger ones the driver may refuse
  std::uint64_t alignment = 1; ///< of a window's ends, but for the buffer's; a power of two
};

/// Bytes of the smallest window for it.
std::uint64_t leastFor(const CopyWish& wish, std::uint64_t alignment);
/// Whether that is all of the buffer.
inline bool needsWhole(const CopyWish& wish, std::uint64_t alignment) {
  return leastFor(wish, alignment) == wish.size;
}

/// What each copy should hold, not empty; nothing if there is no room.
std::optional<std::vector<ByteRange>> chooseWindows(std::span<const CopyWish> wishes,
                                                    const WindowLimits& limits);

} // namespace libsplit::runtime
