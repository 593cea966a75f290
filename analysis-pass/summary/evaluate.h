// Turns a kernel's summary into byte sets, at launch.
//
// Everything but the ids and loop variables is a number by now. Each offset becomes an affine form
// over those variables with numeric coefficients, whose image over the box is a strided set: exact.
// What is not affine becomes an interval that contains the image: an over-approximation, good
// enough for reads and possible writes, never for certain writes.
#pragma once

#include "analysis-pass/summary/byte_set.h"
#include "analysis-pass/summary/contents.h"
#include "analysis-pass/summary/kernel_summary.h"
#include "analysis-pass/summary/ndrange.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace libsplit {

/// The value of one argument at a launch.
struct ArgumentValue {
  /// By-value arguments: as given to clSetKernelArg. Images: their ImageNumbers.
  std::span<const std::byte> bytes;
  /// Bytes of the buffer or sub-buffer, 0 for NULL; of an image as it is packed.
  std::uint64_t bufferSize = 0;
};

/// Bytes that may be updated by atomics of one kind.
struct UpdatedBytes {
  UpdateKind kind;
  ByteSet bytes;    ///< superset; the whole argument where nothing is known
  SourceLine where; ///< of the first such atomic
};

/// What a box of work-groups does to one buffer argument. Byte 0 is the argument's address; all
/// sets lie within [0, bufferSize): accesses beyond it are undefined in the program itself.
struct ArgumentRegions {
  ByteSet reads;          ///< superset of the bytes that are read
  ByteSet possibleWrites; ///< superset of the bytes that are written; contains certainWrites
  ByteSet certainWrites;  ///< subset of the bytes that are written
  ByteSet rewrites; ///< superset of what may be stored back as it was; may overlap with writes
  std::vector<UpdatedBytes> updates; ///< neither among the reads nor among the writes
  /// Set where `reads` or `possibleWrites` had to be the whole argument because nothing was known.
  std::optional<Reason> unknownReads;
  std::optional<Reason> unknownWrites;

  /// The set in `updates` for the kind of `access`.
  ByteSet& updatedBy(const Access& access);
};

/// Regions of `box` for every parameter (empty ones for by-value and local parameters). Sets with
/// more than `maxRanges` ranges are widened to their hull (reads, possible writes); accesses that
/// would make so many of certain writes are left out of these. Domains that are no boxes are cut
/// into at most `maxParts`, all together, until they are; the default is some milliseconds' worth.
/// Pure, thread-safe, no exceptions; an empty box has empty regions. Two boxes that overlap in no
/// group may still overlap in bytes: the caller compares. Without `contents`, what is loaded from
/// buffers is unknown; with them, the answer holds as long as they do. `unasked`: by parameter,
/// whether its regions are to be left empty.
std::vector<ArgumentRegions> evaluate(const KernelSummary& summary, const NDRange& range,
                                      std::span<const ArgumentValue> arguments, const GroupBox& box,
                                      std::size_t maxRanges = 65536, Contents* contents = nullptr,
                                      const std::vector<bool>& unasked = {},
                                      unsigned maxParts = 4096);

/// Bytes that work-groups of `box` certainly touch by `access`, a read or write of one of
/// `summary`'s buffers: a subset, empty where data decide. `budget` bounds the work, for as many
/// calls as it lasts: it is what may still be spent, in parts that domains are cut into.
ByteSet certainBytes(const KernelSummary& summary, const Access& access, const NDRange& range,
                     std::span<const ArgumentValue> arguments, const GroupBox& box,
                     unsigned& budget, std::size_t maxRanges = 65536);

} // namespace libsplit
