// What an ICD loader looks for in a driver.
#include "tests/fake_opencl/driver.h"

#include <cstring>

using namespace libsplit::fake;

extern "C" {

[[gnu::visibility("default")]] cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint entries,
                                                                         cl_platform_id* platforms,
                                                                         cl_uint* count) {
  return Driver::dispatchTable().clGetPlatformIDs(entries, platforms, count);
}

[[gnu::visibility("default")]] cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                                    cl_platform_info name,
                                                                    size_t size, void* value,
                                                                    size_t* sizeRet) {
  return Driver::dispatchTable().clGetPlatformInfo(platform, name, size, value, sizeRet);
}

[[gnu::visibility("default")]] void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
    return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
  if (std::strcmp(name, "clGetPlatformInfo") == 0)
    return reinterpret_cast<void*>(&clGetPlatformInfo);
  return nullptr;
}
}
