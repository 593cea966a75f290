// Images and regions of them, as commands name them.
#pragma once

#include "libsplit/rects.h"
#include "runtime/session/memory_table.h"

#include <cstddef>
#include <optional>

namespace libsplit {

/// An image that a command names. The driver is asked for its shape unless all goes there at once:
/// then nobody needs to know what it will refuse.
class NamedImage {
public:
  explicit NamedImage(cl_mem image) {
    if (!session().isQuiet())
      shape_ = session().memory().shapeOf(image);
  }

  /// Whether the standard has drivers refuse a command for that region.
  bool lacks(const Triple& origin, const Triple& region) const {
    return !origin.data() || !region.isRegion() || (shape_ && !holds(origin, region));
  }
  /// … for that of the host's rows and slices, which begin so far from each other; 0: dense.
  bool refusesPitches(const Triple& region, std::size_t row, std::size_t slice) const {
    if (!shape_)
      return false;
    const std::size_t dense = shape_->numbers.pixel * region[0];
    return (row > 0 && row < dense) || (slice > 0 && slice < (row == 0 ? dense : row) * region[1]);
  }
  bool isOfOtherFormat(const NamedImage& other) const {
    return shape_ && other.shape_ &&
           (shape_->format.image_channel_order != other.shape_->format.image_channel_order ||
            shape_->format.image_channel_data_type != other.shape_->format.image_channel_data_type);
  }
  /// The use of a buffer for a region of the image, packed; of all of it where nobody needs to
  /// know.
  runtime::BufferUse packed(cl_mem buffer, bool writes, std::size_t offset,
                            const Triple& region) const {
    if (!shape_ || !region.isRegion())
      return {buffer, writes};
    return {buffer, writes, offset,
            offset + shape_->numbers.pixel * region[0] * region[1] * region[2]};
  }

private:
  bool holds(const Triple& origin, const Triple& region) const {
    for (std::size_t d = 0; d < shape_->region.size(); ++d)
      if (region[d] > shape_->region[d] || origin[d] > shape_->region[d] - region[d])
        return false;
    return true;
  }

  std::optional<runtime::ImageShape> shape_;
};

} // namespace libsplit
