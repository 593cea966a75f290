// Regions of buffers and images, as commands have them.
#pragma once

#include "libsplit/enqueue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace libsplit {

/// Three numbers of the application's, or none.
class Triple {
public:
  explicit Triple(const size_t* values) : isGiven_(values) {
    if (values)
      std::copy_n(values, values_.size(), values_.begin());
  }
  std::size_t operator[](std::size_t i) const { return values_[i]; }
  /// As the application gave them.
  const size_t* data() const { return isGiven_ ? values_.data() : nullptr; }
  /// Whether a region of this size is one.
  bool isRegion() const {
    return isGiven_ && std::find(values_.begin(), values_.end(), 0) == values_.end();
  }

private:
  std::array<std::size_t, 3> values_{};
  bool isGiven_;
};

/// Where the rows of a region lie in memory.
struct Rows {
  Rows(const Triple& origin, const Triple& region, std::size_t rowPitch, std::size_t slicePitch)
      : length(region[0]), pitch(rowPitch ? rowPitch : region[0]),
        slice(slicePitch ? slicePitch : region[1] * pitch),
        begin(origin[2] * slice + origin[1] * pitch + origin[0]), end(begin) {
    if (region.isRegion())
      end = begin + (region[2] - 1) * slice + (region[1] - 1) * pitch + length;
    areSound = origin.data() && region.isRegion() && pitch >= length &&
               slice >= region[1] * pitch && slice % pitch == 0;
  }
  /// The use of all bytes from the first to the last. What lies between rows is kept.
  runtime::BufferUse use(cl_mem object, bool writes) const { return {object, writes, begin, end}; }
  bool areSpacedAs(const Rows& other) const { return pitch == other.pitch && slice == other.slice; }
  /// Whether these rows and others of the same spacing and length lie in different columns.
  bool areBeside(const Rows& other) const {
    const std::size_t a = begin % pitch, b = other.begin % pitch;
    return std::max(a, b) + length <= pitch && std::min(a, b) + length <= std::max(a, b);
  }

  std::size_t length, pitch, slice, begin, end;
  bool areSound; ///< no driver has to refuse them
};

/// What the standard says of a copy of rows, by their uses, as far as libsplit can tell.
inline cl_int errorOfCopy(const Rows& from, const Rows& to, const runtime::BufferUse& reads,
                          const runtime::BufferUse& writes) {
  const bool isOneObject = reads.object == writes.object;
  if (!from.areSound || !to.areSound || (isOneObject && !from.areSpacedAs(to)))
    return CL_INVALID_VALUE;
  const bool mayMeet = !(isOneObject && from.areBeside(to));
  return mayMeet && session().memory().overlap(reads, writes) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS;
}

/// Whether a pattern of this size is one, and these bytes are some of it as a whole.
inline bool fillsWhole(std::size_t patternSize, std::size_t offset, std::size_t size) {
  return std::has_single_bit(patternSize) && patternSize <= sizeof(cl_double16) &&
         offset % patternSize == 0 && size % patternSize == 0;
}

inline runtime::BufferUse overwritten(cl_mem object, std::size_t offset, std::size_t size) {
  return {object, true, offset, offset + size, false};
}

} // namespace libsplit
