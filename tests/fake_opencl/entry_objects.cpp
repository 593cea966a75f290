// Platforms, devices, contexts and command queues of the fake OpenCL.
#include "tests/fake_opencl/driver.h"

#include <algorithm>
#include <chrono>

namespace libsplit::fake {

namespace {

cl_int CL_API_CALL getPlatformIds(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  Driver& all = driver();
  if ((platforms && entries == 0) || (!platforms && !count))
    return CL_INVALID_VALUE;
  for (cl_uint i = 0; platforms && i < entries && i < all.platforms.size(); ++i)
    platforms[i] = all.platforms[i].get();
  if (count)
    *count = static_cast<cl_uint>(all.platforms.size());
  return CL_SUCCESS;
}

cl_int CL_API_CALL getPlatformInfo(cl_platform_id platform, cl_platform_info name, std::size_t size,
                                   void* value, std::size_t* sizeRet) {
  Call call("clGetPlatformInfo", platform, Call::Counted::No);
  if (call.error)
    return call.error;
  const Answer answer{size, value, sizeRet};
  switch (name) {
  case CL_PLATFORM_PROFILE:
    return answer.text("FULL_PROFILE");
  case CL_PLATFORM_VERSION:
    return answer.text("OpenCL 1.2 fake");
  case CL_PLATFORM_NAME:
    return answer.text(platform->name);
  case CL_PLATFORM_VENDOR:
    return answer.text("libsplit's tests");
  case CL_PLATFORM_EXTENSIONS:
    return answer.text("cl_khr_icd");
  case CL_PLATFORM_ICD_SUFFIX_KHR:
    return answer.text("FAKE");
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL getDeviceIds(cl_platform_id platform, cl_device_type type, cl_uint entries,
                                cl_device_id* devices, cl_uint* count) {
  Call call("clGetDeviceIDs", platform, Call::Counted::No);
  if (call.error)
    return call.error;
  if ((devices && entries == 0) || (!devices && !count))
    return CL_INVALID_VALUE;
  std::vector<cl_device_id> found;
  for (cl_device_id device : platform->devices) {
    const cl_device_type is = device->configuration.isGpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU;
    if ((type & is) || ((type & CL_DEVICE_TYPE_DEFAULT) && found.empty()))
      found.push_back(device);
  }
  for (cl_uint i = 0; devices && i < entries && i < found.size(); ++i)
    devices[i] = found[i];
  if (count)
    *count = static_cast<cl_uint>(found.size());
  return found.empty() ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

cl_int CL_API_CALL getDeviceInfo(cl_device_id device, cl_device_info name, std::size_t size,
                                 void* value, std::size_t* sizeRet) {
  Call call("clGetDeviceInfo", device);
  if (call.error)
    return call.error;
  const Answer answer{size, value, sizeRet};
  const DeviceConfiguration& is = device->configuration;
  const auto uint = [&](cl_uint number) { return answer.one(number); };
  const auto ulong = [&](cl_ulong number) { return answer.one(number); };
  const auto flag = [&](bool yes) { return answer.one<cl_bool>(yes ? CL_TRUE : CL_FALSE); };
  switch (name) {
  case CL_DEVICE_TYPE:
    return answer.one<cl_device_type>(is.isGpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU);
  case CL_DEVICE_VENDOR_ID:
    return uint(0xfa4e);
  case CL_DEVICE_MAX_COMPUTE_UNITS:
    return uint(is.units);
  case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
    return uint(3);
  case CL_DEVICE_MAX_WORK_ITEM_SIZES:
    return answer.all(std::vector<std::size_t>(3, is.maxGroup));
  case CL_DEVICE_MAX_WORK_GROUP_SIZE:
    return answer.one(is.maxGroup);
  case CL_DEVICE_MAX_CLOCK_FREQUENCY:
    return uint(1000);
  case CL_DEVICE_ADDRESS_BITS:
    return uint(64);
  case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    return ulong(is.promised());
  case CL_DEVICE_GLOBAL_MEM_SIZE:
    return ulong(is.memory);
  case CL_DEVICE_LOCAL_MEM_SIZE:
    return ulong(is.localMemory);
  case CL_DEVICE_LOCAL_MEM_TYPE:
    return answer.one<cl_device_local_mem_type>(CL_LOCAL);
  case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
    return ulong(is.memory / 2);
  case CL_DEVICE_MAX_CONSTANT_ARGS:
    return uint(8);
  case CL_DEVICE_MAX_PARAMETER_SIZE:
    return answer.one(std::size_t{4096});
  case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
    return uint(1024);
  case CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE:
    return uint(128);
  case CL_DEVICE_GLOBAL_MEM_CACHE_TYPE:
    return answer.one<cl_device_mem_cache_type>(CL_NONE);
  case CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE:
    return uint(64);
  case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
    return ulong(0);
  case CL_DEVICE_IMAGE_SUPPORT:
  case CL_DEVICE_ERROR_CORRECTION_SUPPORT:
  case CL_DEVICE_PREFERRED_INTEROP_USER_SYNC:
    return flag(false);
  case CL_DEVICE_HOST_UNIFIED_MEMORY:
    return flag(!is.isGpu);
  case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
    return answer.one(std::size_t{1});
  case CL_DEVICE_ENDIAN_LITTLE:
  case CL_DEVICE_AVAILABLE:
  case CL_DEVICE_COMPILER_AVAILABLE:
  case CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT: // of kernels in OpenCL C 2.0
    return flag(true);
  case CL_DEVICE_LINKER_AVAILABLE:
    return flag(false);
  case CL_DEVICE_EXECUTION_CAPABILITIES:
    return answer.one<cl_device_exec_capabilities>(
        CL_EXEC_KERNEL | (is.runsNativeKernels() ? CL_EXEC_NATIVE_KERNEL : 0));
  case CL_DEVICE_QUEUE_PROPERTIES:
    return answer.one<cl_command_queue_properties>(CL_QUEUE_PROFILING_ENABLE |
                                                   CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  case CL_DEVICE_PLATFORM:
    return answer.one(device->platform);
  case CL_DEVICE_NAME:
    return answer.text(is.name);
  case CL_DEVICE_VENDOR:
    return answer.text("libsplit's tests");
  case CL_DRIVER_VERSION:
    return answer.text("1");
  case CL_DEVICE_PROFILE:
    return answer.text("FULL_PROFILE");
  case CL_DEVICE_VERSION:
    return answer.text("OpenCL 1.2 fake");
  case CL_DEVICE_OPENCL_C_VERSION:
    return answer.text("OpenCL C 1.2 fake");
  case CL_DEVICE_EXTENSIONS:
    return answer.text("cl_khr_byte_addressable_store cl_khr_fp64 "
                       "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
                       "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
                       "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_subgroups");
  case CL_DEVICE_SINGLE_FP_CONFIG:
  case CL_DEVICE_DOUBLE_FP_CONFIG:
    return answer.one<cl_device_fp_config>(CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_FMA |
                                           CL_FP_DENORM);
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT:
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_INT:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
    return uint(1);
  case CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF:
  case CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF:
  case CL_DEVICE_MAX_READ_IMAGE_ARGS:
  case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
  case CL_DEVICE_MAX_SAMPLERS:
  case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
    return uint(0);
  case CL_DEVICE_IMAGE2D_MAX_WIDTH:
  case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
  case CL_DEVICE_IMAGE3D_MAX_WIDTH:
  case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
  case CL_DEVICE_IMAGE3D_MAX_DEPTH:
  case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
  case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
  case CL_DEVICE_PRINTF_BUFFER_SIZE:
    return answer.one(std::size_t{0});
  case CL_DEVICE_PARENT_DEVICE:
    return answer.one<cl_device_id>(nullptr);
  case CL_DEVICE_PARTITION_PROPERTIES:
  case CL_DEVICE_PARTITION_TYPE:
    return answer.all(std::vector<cl_device_partition_property>{0});
  case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
    return answer.one<cl_device_affinity_domain>(0);
  case CL_DEVICE_BUILT_IN_KERNELS:
    return answer.text("");
  case CL_DEVICE_REFERENCE_COUNT:
    return uint(1);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL retainDevice(cl_device_id device) {
  return Call("clRetainDevice", device, Call::Counted::No).error; // no sub-devices
}

cl_int CL_API_CALL getDeviceAndHostTimer(cl_device_id device, cl_ulong* onDevice,
                                         cl_ulong* onHost) {
  Call call("clGetDeviceAndHostTimer", device);
  if (call.error)
    return call.error;
  *onDevice = driver().engine.now();
  *onHost = driver().engine.now();
  return CL_SUCCESS;
}

using Notify = void(CL_CALLBACK*)(const char*, const void*, std::size_t, void*);

cl_context createContext(const cl_context_properties* properties,
                         const std::vector<cl_device_id>& devices, Notify notify, void* data,
                         cl_int* error) {
  auto context = std::make_unique<_cl_context>();
  context->devices = devices;
  context->notify = notify;
  context->notifyData = data;
  for (const cl_context_properties* each = properties; each && *each; each += 2)
    context->properties.insert(context->properties.end(), {each[0], each[1]});
  if (properties)
    context->properties.push_back(0);
  return granted(error, driver().adopt(std::move(context)));
}

cl_context CL_API_CALL createContextOf(const cl_context_properties* properties, cl_uint count,
                                       const cl_device_id* devices,
                                       void(CL_CALLBACK* notify)(const char*, const void*,
                                                                 std::size_t, void*),
                                       void* data, cl_int* error) {
  if (count == 0 || !devices)
    return refuse(error, CL_INVALID_VALUE);
  Call call("clCreateContext", devices[0]);
  if (call.error)
    return refuse(error, call.error);
  for (cl_uint i = 0; i < count; ++i) {
    if (!driver().isAlive(devices[i]) || devices[i]->platform != devices[0]->platform)
      return refuse(error, CL_INVALID_DEVICE);
    if (devices[i]->lost)
      return refuse(error, CL_DEVICE_NOT_AVAILABLE);
  }
  return createContext(properties, {devices, devices + count}, notify, data, error);
}

cl_context CL_API_CALL createContextFromType(const cl_context_properties* properties,
                                             cl_device_type type,
                                             void(CL_CALLBACK* notify)(const char*, const void*,
                                                                       std::size_t, void*),
                                             void* data, cl_int* error) {
  cl_platform_id platform = driver().platforms.front().get();
  for (const cl_context_properties* each = properties; each && *each; each += 2)
    if (*each == CL_CONTEXT_PLATFORM)
      platform = reinterpret_cast<cl_platform_id>(each[1]);
  cl_device_id found[64];
  cl_uint count = 0;
  const cl_int status = getDeviceIds(platform, type, 64, found, &count);
  if (status != CL_SUCCESS)
    return refuse(error, status);
  return createContextOf(properties, count, found, notify, data, error);
}

cl_int CL_API_CALL getContextInfo(cl_context context, cl_context_info name, std::size_t size,
                                  void* value, std::size_t* sizeRet) {
  Call call("clGetContextInfo", context);
  if (call.error)
    return call.error;
  const Answer answer{size, value, sizeRet};
  switch (name) {
  case CL_CONTEXT_REFERENCE_COUNT:
    return answer.one(static_cast<cl_uint>(context->references));
  case CL_CONTEXT_NUM_DEVICES:
    return answer.one(static_cast<cl_uint>(context->devices.size()));
  case CL_CONTEXT_DEVICES:
    return answer.all(context->devices);
  case CL_CONTEXT_PROPERTIES:
    return answer.all(context->properties);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_command_queue createQueue(Call& call, cl_context context, cl_device_id device,
                             cl_command_queue_properties properties,
                             std::vector<cl_queue_properties> given, cl_int* error) {
  if (call.error)
    return refuse(error, call.error);
  if (std::ranges::find(context->devices, device) == context->devices.end())
    return refuse(error, CL_INVALID_DEVICE);
  const unsigned most = device->configuration.mostQueues;
  if (device->lost || (most > 0 && device->queues == most))
    return refuse(error, CL_OUT_OF_RESOURCES);
  ++device->queues;
  auto queue = std::make_unique<_cl_command_queue>();
  queue->context = Keep<cl_context>(context);
  queue->device = device;
  queue->properties = properties;
  queue->given = std::move(given);
  return granted(error, driver().adopt(std::move(queue)));
}

cl_command_queue CL_API_CALL createCommandQueue(cl_context context, cl_device_id device,
                                                cl_command_queue_properties properties,
                                                cl_int* error) {
  Call call("clCreateCommandQueue", context);
  return createQueue(call, context, device, properties, {}, error);
}

cl_command_queue CL_API_CALL createQueueWithProperties(cl_context context, cl_device_id device,
                                                       const cl_queue_properties* list,
                                                       cl_int* error) {
  Call call("clCreateCommandQueueWithProperties", context);
  cl_command_queue_properties properties = 0;
  std::vector<cl_queue_properties> given;
  for (const cl_queue_properties* each = list; each && *each; each += 2) {
    given.insert(given.end(), {each[0], each[1]});
    if (each[0] != CL_QUEUE_PROPERTIES)
      return refuse(error, CL_INVALID_QUEUE_PROPERTIES);
    properties = each[1];
  }
  if (list)
    given.push_back(0);
  return createQueue(call, context, device, properties, std::move(given), error);
}

cl_int CL_API_CALL getQueueInfo(cl_command_queue queue, cl_command_queue_info name,
                                std::size_t size, void* value, std::size_t* sizeRet) {
  Call call("clGetCommandQueueInfo", queue);
  if (call.error)
    return call.error;
  const Answer answer{size, value, sizeRet};
  switch (name) {
  case CL_QUEUE_CONTEXT:
    return answer.one(queue->context.get());
  case CL_QUEUE_DEVICE:
    return answer.one(queue->device);
  case CL_QUEUE_REFERENCE_COUNT:
    return answer.one(static_cast<cl_uint>(queue->references));
  case CL_QUEUE_PROPERTIES:
    return answer.one(queue->properties);
  case CL_QUEUE_PROPERTIES_ARRAY:
    return answer.all(queue->given);
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL flushQueue(cl_command_queue queue) {
  Call call("clFlush", queue);
  if (!call.error)
    driver().engine.flush(queue);
  return call.error;
}

cl_int CL_API_CALL finishQueue(cl_command_queue queue) {
  Call call("clFinish", queue);
  if (!call.error)
    driver().engine.waitIdle(call.lock, queue);
  if (!call.error && queue->device->lost)
    return CL_OUT_OF_RESOURCES;
  return call.error;
}

cl_int CL_API_CALL releaseQueue(cl_command_queue queue) {
  Call call("clReleaseCommandQueue", queue, Call::Counted::No);
  if (call.error)
    return call.error;
  driver().engine.flush(queue); // as the specification has it; what is pending keeps it
  release(queue);
  return CL_SUCCESS;
}

} // namespace

void addObjects(cl_icd_dispatch& table) {
  table.clGetPlatformIDs = getPlatformIds;
  table.clGetPlatformInfo = getPlatformInfo;
  table.clGetDeviceIDs = getDeviceIds;
  table.clGetDeviceInfo = getDeviceInfo;
  table.clRetainDevice = retainDevice;
  table.clReleaseDevice = retainDevice;
  table.clGetDeviceAndHostTimer = getDeviceAndHostTimer;
  table.clCreateContext = createContextOf;
  table.clCreateContextFromType = createContextFromType;
  table.clRetainContext = retainHandle<cl_context>;
  table.clReleaseContext = releaseHandle<cl_context>;
  table.clGetContextInfo = getContextInfo;
  table.clCreateCommandQueue = createCommandQueue;
  table.clCreateCommandQueueWithProperties = createQueueWithProperties;
  table.clRetainCommandQueue = retainHandle<cl_command_queue>;
  table.clReleaseCommandQueue = releaseQueue;
  table.clGetCommandQueueInfo = getQueueInfo;
  table.clFlush = flushQueue;
  table.clFinish = finishQueue;
}

} // namespace libsplit::fake
