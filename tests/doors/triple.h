// A tiny OpenCL program that takes every function from a table, so that each door program differs
// only in how it comes by the functions. Plain C style; knows nothing of libsplit.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <cstddef>
#include <cstdio>
#include <vector>

namespace door {

/// Every function that the program calls, in the order of use.
#define DOOR_FUNCTIONS(apply)                                                                      \
  apply(clGetPlatformIDs) apply(clGetDeviceIDs) apply(clCreateContext) apply(clCreateCommandQueue) \
      apply(clCreateProgramWithSource) apply(clBuildProgram) apply(clCreateKernel)                 \
          apply(clCreateBuffer) apply(clSetKernelArg) apply(clEnqueueNDRangeKernel)                \
              apply(clEnqueueReadBuffer) apply(clFinish) apply(clReleaseMemObject)                 \
                  apply(clReleaseKernel) apply(clReleaseProgram) apply(clReleaseCommandQueue)      \
                      apply(clReleaseContext)

struct Functions {
#define DOOR_MEMBER(name) decltype(&::name) name;
  DOOR_FUNCTIONS(DOOR_MEMBER)
#undef DOOR_MEMBER
};

inline constexpr int launches = 5;

/// Multiplies by three, five times over, on the first device. 0: the result is right.
inline int triple(const Functions& cl) {
  constexpr std::size_t n = 1 << 14;
  const char* source = "kernel void triple(global int* data) {\n"
                       "  size_t i = get_global_id(0);\n"
                       "  data[i] = data[i] * 3;\n"
                       "}\n";
  std::vector<cl_int> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<cl_int>(i % 100);

  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int error = cl.clGetPlatformIDs(1, &platform, nullptr);
  error |= cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  if (error != CL_SUCCESS)
    return 2;
  cl_context context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &error);
  cl_program program = cl.clCreateProgramWithSource(context, 1, &source, nullptr, &error);
  error |= cl.clBuildProgram(program, 1, &device, "", nullptr, nullptr);
  cl_kernel kernel = cl.clCreateKernel(program, "triple", &error);
  if (error != CL_SUCCESS)
    return 3;
  cl_mem data =
      cl.clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, n * sizeof(cl_int), values.data(), &error);
  error |= cl.clSetKernelArg(kernel, 0, sizeof data, &data);
  for (int i = 0; i < launches; ++i)
    error |= cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr);
  error |= cl.clEnqueueReadBuffer(queue, data, CL_FALSE, 0, n * sizeof(cl_int), values.data(), 0,
                                  nullptr, nullptr);
  error |= cl.clFinish(queue);
  error |= cl.clReleaseMemObject(data);
  error |= cl.clReleaseKernel(kernel);
  error |= cl.clReleaseProgram(program);
  error |= cl.clReleaseCommandQueue(queue);
  error |= cl.clReleaseContext(context);
  if (error != CL_SUCCESS)
    return 4;
  for (std::size_t i = 0; i < n; ++i)
    if (values[i] != static_cast<cl_int>(i % 100) * 243) {
      std::fprintf(stderr, "item %zu is %d\n", i, values[i]);
      return 1;
    }
  return 0;
}

/// The functions as the linker resolves them.
#define DOOR_LINKED(name) &::name,
#define DOOR_LINKED_FUNCTIONS {DOOR_FUNCTIONS(DOOR_LINKED)}

} // namespace door
