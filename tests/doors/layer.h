// What an OpenCL layer of the tests needs besides the functions that it stands before. Included
// once by each layer, which defines `install`.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace {

cl_icd_dispatch below, table;

/// Puts the layer's functions into `table`.
void install();

[[maybe_unused]] bool isNamed(cl_device_id device, const char* beginning) {
  std::array<char, 256> name{};
  below.clGetDeviceInfo(device, CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr);
  return beginning && std::string(name.data()).starts_with(beginning);
}

} // namespace

extern "C" [[gnu::visibility("default")]] cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name,
                                                                            std::size_t size,
                                                                            void* value,
                                                                            std::size_t* sizeRet) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (name != CL_LAYER_API_VERSION || (value && size < sizeof version))
    return CL_INVALID_VALUE;
  if (value)
    *static_cast<cl_layer_api_version*>(value) = version;
  if (sizeRet)
    *sizeRet = sizeof version;
  return CL_SUCCESS;
}

extern "C" [[gnu::visibility("default")]] cl_int CL_API_CALL
clInitLayer(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entriesRet,
            const cl_icd_dispatch** layerRet) {
  if (entries < sizeof table / sizeof(void*))
    return CL_INVALID_VALUE;
  below = table = *target;
  install();
  *entriesRet = sizeof table / sizeof(void*);
  *layerRet = &table;
  return CL_SUCCESS;
}
