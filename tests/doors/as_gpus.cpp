// An OpenCL layer below libsplit's: devices whose name begins with $AS_GPUS say that they are GPUs.
// So they are given memories of their own, pinned host memory, and commands without a thread of
// their own in between.
#include "tests/doors/layer.h"

namespace {

cl_int CL_API_CALL getDeviceInfo(cl_device_id device, cl_device_info name, std::size_t size,
                                 void* value, std::size_t* sizeRet) {
  const cl_int error = below.clGetDeviceInfo(device, name, size, value, sizeRet);
  if (error == CL_SUCCESS && value && name == CL_DEVICE_TYPE &&
      isNamed(device, std::getenv("AS_GPUS")))
    *static_cast<cl_device_type*>(value) = CL_DEVICE_TYPE_GPU;
  return error;
}

void install() {
  table.clGetDeviceInfo = getDeviceInfo;
}

} // namespace
