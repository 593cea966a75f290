// Images and regions of them, as commands name them.
#pragma once

#include "libsplit/rects.h"
#include "runtime/core/opencl.h"

#include <array>
#include <cstddef>

namespace libsplit {

/// What the driver says of one. What it does not know is an empty image, which has no regions.
class Image {
public:
  explicit Image(cl_mem image)
      : format_(runtime::property<cl_image_format>(next().clGetImageInfo, image, CL_IMAGE_FORMAT)),
        pixel_(numberOf(image, CL_IMAGE_ELEMENT_SIZE)) {
    extent_[0] = numberOf(image, CL_IMAGE_WIDTH);
    switch (runtime::property<cl_mem_object_type>(next().clGetMemObjectInfo, image, CL_MEM_TYPE)) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      extent_[1] = numberOf(image, CL_IMAGE_ARRAY_SIZE);
      break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      extent_[2] = numberOf(image, CL_IMAGE_ARRAY_SIZE);
      [[fallthrough]];
    case CL_MEM_OBJECT_IMAGE2D:
      extent_[1] = numberOf(image, CL_IMAGE_HEIGHT);
      break;
    case CL_MEM_OBJECT_IMAGE3D:
      extent_[1] = numberOf(image, CL_IMAGE_HEIGHT);
      extent_[2] = numberOf(image, CL_IMAGE_DEPTH);
      break;
    default:
      break;
    }
  }

  bool holds(const Triple& origin, const Triple& region) const {
    for (std::size_t d = 0; d < extent_.size(); ++d)
      if (region[d] > extent_[d] || origin[d] > extent_[d] - region[d])
        return false;
    return true;
  }
  /// Whether the host's rows and slices may begin that far from each other; 0: they are dense.
  bool takesPitches(const Triple& region, std::size_t row, std::size_t slice) const {
    const std::size_t dense = pixel_ * region[0];
    return (row == 0 || row >= dense) &&
           (slice == 0 || slice >= (row == 0 ? dense : row) * region[1]);
  }
  bool isLike(const Image& other) const {
    return format_.image_channel_order == other.format_.image_channel_order &&
           format_.image_channel_data_type == other.format_.image_channel_data_type;
  }
  /// Of a region, packed.
  std::size_t bytesOf(const Triple& region) const {
    return pixel_ * region[0] * region[1] * region[2];
  }

private:
  static std::size_t numberOf(cl_mem image, cl_image_info name) {
    return runtime::property<std::size_t>(next().clGetImageInfo, image, name);
  }

  cl_image_format format_;
  std::size_t pixel_; ///< bytes
  std::array<std::size_t, 3> extent_{1, 1, 1};
};

} // namespace libsplit
