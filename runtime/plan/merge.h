// Puts together what devices on different memory nodes made of the same bytes. Pure: numbers and
// bytes, no OpenCL.
//
// Two ways:
//
// *By difference*, where nobody knows who writes what. Every device starts from the old bytes, and
// each element that a device changed wins over the old one. Worked example: old 7 7 7 7, device 1
// leaves 7 5 7 9, device 2 leaves 7 7 3 4. Elements 1 and 2 were changed by one device each; 3 by
// both, and device 2 comes last: 7 5 3 4.
//
//   (a) Is it right that a device did not see the other's writes? OpenCL orders work-groups by
//       nothing but atomics. A work-item that reads what a work-item of another group writes in the
//       same launch may find the old bytes natively too. Kernels whose atomics could tell are not
//       merged.
//   (b) An element that was written with its old value counts as not written. If no other device
//       changed it, the old value is the new one. If one did, the program wrote two values to one
//       place in no order, and either may stay.
//   (c) Flags (`*changed = 1`) are a case of this: all who write it write the same.
//   (d) When two devices changed one element, the result must be the value of one of them and not
//       bytes of both. So elements are compared and taken as wholes. They may not be larger than
//       what is written at a time either: of two neighbours in one element, each written by
//       another device, one would be lost. The planner gives the largest block that every write
//       touches as a whole (Access::grain); components of a vector that a device stores back as
//       they were count as not written (Effect::Rewrite).
//   (e) A read-modify-write without atomics of a place that several groups update (`*sum += x`) is
//       a race: natively too, increments get lost.
//
// *By operation*, where all that the launch does to the elements are atomics of one kind whose
// results are unused: then the order of updates does not matter. The host's copy goes on from the
// old values; every other device starts from the operation's neutral element, so that it collects
// what its own work-items do; the collected values are applied to the host's copy as if each were
// one more update. Additions wrap around as the atomics do, so sums are exact.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "analysis-pass/summary/kernel_summary.h"
#include "runtime/plan/directory.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace libsplit::runtime {

/// Bytes of a buffer that the pieces of a launch leave different on several nodes, to be put
/// together in the host's memory.
struct Merge {
  std::size_t buffer = 0;           ///< index into the launch's distinct buffers
  std::optional<UpdateKind> update; ///< by this operation; nothing: by difference
  std::uint32_t grain = 1;          ///< bytes of an element
  struct Part {
    NodeId node = hostNode;
    ByteSet bytes; ///< what its pieces may have changed
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts; ///< ascending by node; two or more
  ByteSet bytes;           ///< of all parts
  bool operator==(const Merge&) const = default;
};

/// One node's bytes. `data` is where byte 0 of the buffer would lie.
struct MergeCopy {
  const std::byte* data = nullptr;
  const ByteSet* bytes = nullptr; ///< valid at `data`
};

/// For every element of `grain` bytes (a power of two up to 16; offsets that are multiples of it)
/// within `range`: the last copy that differs from `old` there is written to `into`. `old` and
/// `into` may be the same memory; otherwise `into` keeps what no copy changed. Where a set cuts an
/// element, the part inside counts as one.
void mergeDifferences(ByteRange range, std::uint32_t grain, std::span<const MergeCopy> copies,
                      const std::byte* old, std::byte* into);

/// Applies every element of `copy` within `range` to `into` as one update. Bounds of all ranges are
/// multiples of the width.
void mergeUpdates(ByteRange range, const UpdateKind& kind, const MergeCopy& copy, std::byte* into);

/// The element that an update leaves as it is: x + 0, x & ~0, max(x, lowest). Its low `width` bytes
/// count.
std::uint64_t neutralElement(const UpdateKind& kind);

} // namespace libsplit::runtime
