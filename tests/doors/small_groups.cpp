// An OpenCL layer below libsplit's: devices whose name begins with $SMALL_DEVICE have $LOCAL_MEMORY
// bytes of local memory, $CONSTANTS bytes for a __constant argument, and work-groups of $ITEMS
// items in each dimension but the first. They refuse launches that need more.
#include "tests/doors/layer.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace {

std::size_t limit(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : ~std::size_t{0};
}

bool isSmall(cl_device_id device) {
  return isNamed(device, std::getenv("SMALL_DEVICE"));
}

struct Needs {
  std::map<cl_uint, std::size_t> local, constant; // bytes, by argument
};
std::mutex mutex;
std::map<cl_kernel, Needs> kernels;

cl_int CL_API_CALL getDeviceInfo(cl_device_id device, cl_device_info name, std::size_t size,
                                 void* value, std::size_t* sizeRet) {
  const cl_int error = below.clGetDeviceInfo(device, name, size, value, sizeRet);
  if (error != CL_SUCCESS || !value || !isSmall(device))
    return error;
  auto lower = [](auto& number, std::size_t most) { number = std::min<std::size_t>(number, most); };
  if (name == CL_DEVICE_LOCAL_MEM_SIZE)
    lower(*static_cast<cl_ulong*>(value), limit("LOCAL_MEMORY"));
  if (name == CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE)
    lower(*static_cast<cl_ulong*>(value), limit("CONSTANTS"));
  if (name == CL_DEVICE_MAX_WORK_ITEM_SIZES)
    for (int d = 1; d < 3; ++d)
      lower(static_cast<std::size_t*>(value)[d], limit("ITEMS"));
  return error;
}

cl_int CL_API_CALL setKernelArg(cl_kernel kernel, cl_uint index, std::size_t size,
                                const void* value) {
  cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
  below.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space,
                           nullptr);
  std::lock_guard lock(mutex);
  if (space == CL_KERNEL_ARG_ADDRESS_LOCAL)
    kernels[kernel].local[index] = size;
  if (space == CL_KERNEL_ARG_ADDRESS_CONSTANT && value) {
    std::size_t& bytes = kernels[kernel].constant[index] = 0;
    if (cl_mem memory = *static_cast<const cl_mem*>(value))
      below.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  }
  return below.clSetKernelArg(kernel, index, size, value);
}

cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                           const std::size_t* offset, const std::size_t* global,
                           const std::size_t* local, cl_uint count, const cl_event* list,
                           cl_event* event) {
  cl_device_id device = nullptr;
  below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  if (isSmall(device)) {
    std::lock_guard lock(mutex);
    std::size_t bytes = 0;
    for (const auto& [index, size] : kernels[kernel].local)
      bytes += size;
    for (const auto& [index, size] : kernels[kernel].constant)
      if (size > limit("CONSTANTS"))
        return CL_OUT_OF_RESOURCES;
    if (bytes > limit("LOCAL_MEMORY"))
      return CL_OUT_OF_RESOURCES;
    for (cl_uint d = 1; local && d < dimensions; ++d)
      if (local[d] > limit("ITEMS"))
        return CL_INVALID_WORK_ITEM_SIZE;
  }
  return below.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, list,
                                      event);
}

void install() {
  table.clGetDeviceInfo = getDeviceInfo;
  table.clSetKernelArg = setKernelArg;
  table.clEnqueueNDRangeKernel = enqueue;
}

} // namespace
