// A loader as old as those that know no layers: it loads the installed drivers and calls them
// through their dispatch tables, no more.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <algorithm>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace {

std::vector<cl_platform_id> loadPlatforms() {
  std::vector<cl_platform_id> platforms;
  for (const auto& entry : std::filesystem::directory_iterator("/etc/OpenCL/vendors")) {
    std::string library;
    std::getline(std::ifstream(entry.path()) >> std::ws, library);
    void* driver = dlopen(library.c_str(), RTLD_NOW);
    auto find = driver ? reinterpret_cast<cl_api_clGetExtensionFunctionAddress>(
                             dlsym(driver, "clGetExtensionFunctionAddress"))
                       : nullptr;
    auto list = find ? reinterpret_cast<cl_int(CL_API_CALL*)(cl_uint, cl_platform_id*, cl_uint*)>(
                           find("clIcdGetPlatformIDsKHR"))
                     : nullptr;
    cl_uint count = 0;
    if (!list || list(0, nullptr, &count) != CL_SUCCESS)
      continue;
    std::vector<cl_platform_id> found(count);
    list(count, found.data(), nullptr);
    platforms.insert(platforms.end(), found.begin(), found.end());
  }
  return platforms;
}

const std::vector<cl_platform_id>& platforms() {
  static const std::vector<cl_platform_id> all = loadPlatforms();
  return all;
}

cl_int CL_API_CALL platformIds(cl_uint room, cl_platform_id* ids, cl_uint* count) {
  if (ids)
    std::copy_n(platforms().begin(), std::min<std::size_t>(room, platforms().size()), ids);
  if (count)
    *count = static_cast<cl_uint>(platforms().size());
  return CL_SUCCESS;
}

/// What the loader answers itself.
const cl_icd_dispatch* ownTable() {
  static const cl_icd_dispatch table = [] {
    cl_icd_dispatch own{};
    own.clGetPlatformIDs = platformIds;
    own.clGetExtensionFunctionAddress = [](const char*) -> void* { return nullptr; };
    own.clUnloadCompiler = []() -> cl_int { return CL_SUCCESS; };
    return own;
  }();
  return &table;
}

// Every object begins with its driver's table. Which object tells, by the arguments of the call:

template <class Object> const cl_icd_dispatch* tableOf(Object* object) {
  return *reinterpret_cast<const cl_icd_dispatch* const*>(object);
}
const cl_icd_dispatch* dispatch() {
  return ownTable();
}
const cl_icd_dispatch* dispatch(const char*) {
  return ownTable();
}
const cl_icd_dispatch* dispatch(cl_uint, cl_platform_id*, cl_uint*) {
  return ownTable();
}
const cl_icd_dispatch* dispatch(cl_uint, const cl_event* events) {
  return tableOf(*events);
}
template <class... Rest>
const cl_icd_dispatch* dispatch(const cl_context_properties*, cl_uint, const cl_device_id* devices,
                                const Rest&...) {
  return tableOf(*devices);
}
template <class... Rest>
const cl_icd_dispatch* dispatch(const cl_context_properties*, cl_device_type, const Rest&...) {
  return tableOf(platforms().front());
}
template <class Object, class... Rest>
  requires(!std::same_as<Object, const char> && !std::same_as<Object, const cl_context_properties>)
const cl_icd_dispatch* dispatch(Object* object, const Rest&...) {
  return tableOf(object);
}

} // namespace

#define OPENCL_API(result, name, parameters, arguments)                                            \
  extern "C" [[gnu::visibility("default")]] result CL_API_CALL name parameters {                   \
    return dispatch arguments->name arguments;                                                     \
  }
#include "libsplit/api.inc"
#undef OPENCL_API
