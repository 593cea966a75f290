// An OpenCL layer below libsplit's: devices whose name begins with $AS_GPUS say that they are GPUs,
// and are found by programs that ask for GPUs.
// So they are given memories of their own, pinned host memory, and commands without a thread of
// their own in between.
#include "tests/doors/layer.h"

#include <algorithm>
#include <vector>

namespace {

bool isToldGpu(cl_device_id device) {
  return isNamed(device, std::getenv("AS_GPUS"));
}

cl_int CL_API_CALL getDeviceInfo(cl_device_id device, cl_device_info name, std::size_t size,
                                 void* value, std::size_t* sizeRet) {
  const cl_int error = below.clGetDeviceInfo(device, name, size, value, sizeRet);
  if (error == CL_SUCCESS && value && name == CL_DEVICE_TYPE && isToldGpu(device))
    *static_cast<cl_device_type*>(value) = CL_DEVICE_TYPE_GPU;
  return error;
}

cl_int CL_API_CALL getDeviceIds(cl_platform_id platform, cl_device_type type, cl_uint entries,
                                cl_device_id* devices, cl_uint* count) {
  const bool tellsApart = type == CL_DEVICE_TYPE_GPU || type == CL_DEVICE_TYPE_CPU;
  if (!tellsApart || (devices ? entries == 0 : !count))
    return below.clGetDeviceIDs(platform, type, entries, devices, count);
  cl_uint all = 0;
  const cl_int error = below.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &all);
  if (error != CL_SUCCESS)
    return error;
  std::vector<cl_device_id> found(all);
  below.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, all, found.data(), nullptr);
  std::erase_if(found, [&](cl_device_id device) {
    cl_device_type itsType = 0;
    getDeviceInfo(device, CL_DEVICE_TYPE, sizeof itsType, &itsType, nullptr);
    return !(itsType & type);
  });
  if (devices)
    std::copy_n(found.begin(), std::min<std::size_t>(entries, found.size()), devices);
  if (count)
    *count = static_cast<cl_uint>(found.size());
  return found.empty() ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

void install() {
  table.clGetDeviceInfo = getDeviceInfo;
  table.clGetDeviceIDs = getDeviceIds;
}

} // namespace
