// A program that does not compile: prints the error code, the build status and the build log, as a
// careful application would. Exit 0 if the build failed as it should.
#include "kernels/bad_kernel.h"
#include "tests/samples/sample.h"

#include <iostream>

namespace {

void badKernel(sample::Sample& s) {
  const auto program = s.unbuiltProgram(sample::badKernelSource);
  const cl_device_id device = s.device();
  cl_int error = clBuildProgram(program, 1, &device, "-DUNUSED=1 -Werror", nullptr, nullptr);
  std::cout << "clBuildProgram: " << sample::errorName(error) << "\n";
  sample::checkCode(error, CL_BUILD_PROGRAM_FAILURE, "clBuildProgram");

  cl_build_status status = CL_BUILD_NONE;
  sample::check(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status,
                                      &status, nullptr),
                "CL_PROGRAM_BUILD_STATUS");
  sample::require(status == CL_BUILD_ERROR, "the build status is no error");

  std::size_t size = 0;
  sample::check(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size),
                "size of the build log");
  std::string log(size, '\0');
  sample::check(
      clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr),
      "CL_PROGRAM_BUILD_LOG");
  std::cout << log.c_str() << "\n";
  sample::require(log.find("undeclared_variable") != std::string::npos, "the log names no culprit");

  clCreateKernel(program, "bad_kernel", &error);
  sample::checkCode(error, CL_INVALID_PROGRAM_EXECUTABLE, "clCreateKernel");
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {}, badKernel);
}
