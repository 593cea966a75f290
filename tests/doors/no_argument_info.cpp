// An OpenCL layer below libsplit's: a driver that tells nothing of kernels' parameters, as some do
// for programs made from binaries.
#include "tests/doors/layer.h"

namespace {

cl_int CL_API_CALL argumentInfo(cl_kernel, cl_uint, cl_kernel_arg_info, std::size_t, void*,
                                std::size_t*) {
  return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
}

void install() {
  table.clGetKernelArgInfo = argumentInfo;
}

} // namespace
