// An OpenCL layer below libsplit's: devices whose name begins with $SMALL_DEVICE hold no buffer of
// more than 4096 bytes.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>

#include <array>
#include <cstdlib>
#include <string>

namespace {

cl_icd_dispatch below, table;

bool isSmall(cl_context context) {
  const char* wanted = std::getenv("SMALL_DEVICE");
  std::array<cl_device_id, 8> devices{};
  std::size_t bytes = 0;
  below.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices.data(), &bytes);
  for (std::size_t i = 0; wanted && i < bytes / sizeof(cl_device_id); ++i) {
    std::array<char, 256> name{};
    below.clGetDeviceInfo(devices[i], CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr);
    if (std::string(name.data()).starts_with(wanted))
      return true;
  }
  return false;
}

cl_mem CL_API_CALL createBuffer(cl_context context, cl_mem_flags flags, std::size_t size,
                                void* host, cl_int* error) {
  if (size <= 4096 || !isSmall(context))
    return below.clCreateBuffer(context, flags, size, host, error);
  if (error)
    *error = CL_INVALID_BUFFER_SIZE;
  return nullptr;
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
  table.clCreateBuffer = createBuffer;
  *entriesRet = sizeof table / sizeof(void*);
  *layerRet = &table;
  return CL_SUCCESS;
}
