// Extension functions. The application gets them from the driver by name and calls them past every
// layer. Those that can't touch a buffer's bytes, nor overtake what a queue holds back, are none of
// our business. For the others, and for those that nobody here knows, libsplit steps aside before
// the application can call them: all data is at home then, and stays there. Programs are made from
// IL by an extension function of older drivers; ours is called in its stead.
#include "libsplit/enqueue.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace libsplit {

namespace {

/// Names of extension functions that may enqueue, launch, or make or share memory begin so.
constexpr std::array<std::string_view, 5> mayTouchMemory = {
    "clEnqueue", "clCommand", "clSetKernelArg", "clCreate", "clImport"};

/// Those of them that are known not to.
constexpr std::array<std::string_view, 9> harmless = {"clCreateProgramWithILKHR",
                                                      "clCreateCommandQueueWithPropertiesKHR",
                                                      "clCreatePerfCountersCommandQueueINTEL",
                                                      "clCreateSubDevicesEXT",
                                                      "clCreateEventFromGLsyncKHR",
                                                      "clCreateEventFromEGLSyncKHR",
                                                      "clCreateSemaphoreWithPropertiesKHR",
                                                      "clCreateAcceleratorINTEL",
                                                      "clCreateTracingHandleINTEL"};

bool isHarmless(std::string_view function) {
  return std::find(harmless.begin(), harmless.end(), function) != harmless.end() ||
         std::none_of(mayTouchMemory.begin(), mayTouchMemory.end(),
                      [&](std::string_view prefix) { return function.starts_with(prefix); });
}

/// What the application gets for a function of the driver; null stays null.
void* handedOut(const char* name, void* driversOwn) {
  if (!name || !driversOwn)
    return driversOwn;
  if (!isHarmless(name) && session().pool().isUsed())
    return nullptr; // the driver has none of these buffers' bytes
  if (!isHarmless(name))
    tracked([&] { session().stepAside(std::string("the program uses ") + name); });
  if (std::string_view(name) == "clCreateProgramWithILKHR")
    return reinterpret_cast<void*>(createProgramWithIlKhr);
  return driversOwn;
}

void* CL_API_CALL functionAddress(const char* name) {
  return handedOut(name, next().clGetExtensionFunctionAddress(name));
}

void* CL_API_CALL functionAddressForPlatform(cl_platform_id platform, const char* name) {
  return handedOut(name, next().clGetExtensionFunctionAddressForPlatform(platform, name));
}

// Memory shared with a graphics API: the object never gets known, so it never gets split; but
// commands on it must keep their queue's order. Drivers may want them from the program's thread,
// where its graphics context is: so what comes before them is awaited there if it can be.
template <cl_command_type type, auto function>
cl_int CL_API_CALL shareWithGl(cl_command_queue queue, cl_uint objects, const cl_mem* memory,
                               cl_uint count, const cl_event* list, cl_event* event) {
  return guarded([&] {
    return enqueue(runtime::Refusal::Some, {queue, type, count, list, event}, {},
                   [=, copied = Copied(memory, objects)](cl_bool, cl_uint n, const cl_event* events,
                                                         cl_event* done) {
                     return (next().*function)(queue, objects, copied.data(), n, events, done);
                   });
  });
}

} // namespace

void overrideExtensions(runtime::Functions& table) {
  table.clGetExtensionFunctionAddress = functionAddress;
  table.clGetExtensionFunctionAddressForPlatform = functionAddressForPlatform;
  table.clEnqueueAcquireGLObjects =
      shareWithGl<CL_COMMAND_ACQUIRE_GL_OBJECTS, &runtime::Functions::clEnqueueAcquireGLObjects>;
  table.clEnqueueReleaseGLObjects =
      shareWithGl<CL_COMMAND_RELEASE_GL_OBJECTS, &runtime::Functions::clEnqueueReleaseGLObjects>;
}

} // namespace libsplit
