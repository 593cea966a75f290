// An OpenCL layer below libsplit's: devices whose name begins with $SMALL_DEVICE hold no buffer of
// more than 4096 bytes.
#include "tests/doors/layer.h"

namespace {

bool isSmall(cl_context context) {
  const char* wanted = std::getenv("SMALL_DEVICE");
  std::array<cl_device_id, 8> devices{};
  std::size_t bytes = 0;
  below.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices.data(), &bytes);
  for (std::size_t i = 0; i < bytes / sizeof(cl_device_id); ++i)
    if (isNamed(devices[i], wanted))
      return true;
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

void install() {
  table.clCreateBuffer = createBuffer;
}

} // namespace
