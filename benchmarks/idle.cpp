// Programs that do next to nothing, for ./startup: `nothing`, `platforms` (asks how many there
// are), `queue` (makes a context and a queue), or `build` (builds a program, and launches nothing).
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <string>

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "nothing";
  if (what == "nothing")
    return 0;
  cl_uint count = 0;
  cl_platform_id platform = nullptr;
  cl_int error = clGetPlatformIDs(1, &platform, &count);
  if (error != CL_SUCCESS || what == "platforms")
    return error != CL_SUCCESS;
  cl_device_id device = nullptr;
  error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  cl_context context = error == CL_SUCCESS
                           ? clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error)
                           : nullptr;
  cl_command_queue queue = context ? clCreateCommandQueue(context, device, 0, &error) : nullptr;
  if (!queue || clFinish(queue) != CL_SUCCESS)
    return 1;
  if (what == "build") {
    const char* source = "kernel void set(global int* out) { out[get_global_id(0)] = 1; }";
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
    if (!program || clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS)
      return 1;
    clReleaseProgram(program);
  }
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
