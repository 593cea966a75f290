// Extension functions. The application gets them from the driver by name and calls them past every
// layer. Those that can't touch a buffer's bytes are none of our business. For the others libsplit
// steps aside before the application can call them: all data is at home then, and stays there.
// Programs are made from IL by an extension function of older drivers; ours is called in its stead.
#include "libsplit/door.h"

#include <array>
#include <cstring>
#include <string_view>

namespace libsplit {

namespace {

/// Extension functions that read, write, launch or share memory objects, by the start of their
/// names.
constexpr std::array<std::string_view, 10> touchesMemory = {"clCommand",
                                                            "clEnqueueCommandBuffer",
                                                            "clEnqueueAcquire",
                                                            "clEnqueueRelease",
                                                            "clSetKernelArgDevicePointer",
                                                            "clSetKernelArgMemPointer",
                                                            "clSetKernelArgSVMPointer",
                                                            "clCreateFrom",
                                                            "clImport",
                                                            "clEnqueueNDCount"};

void beforeHandingOut(const char* name) {
  if (!name)
    return;
  for (std::string_view prefix : touchesMemory)
    if (std::string_view(name).starts_with(prefix))
      tracked([&] { session().stepAside(std::string("the program uses ") + name); });
}

/// What the application gets for an extension function of the driver.
void* handedOut(const char* name, void* driversOwn) {
  if (driversOwn && std::strcmp(name, "clCreateProgramWithILKHR") == 0)
    return reinterpret_cast<void*>(createProgramWithIlKhr);
  return driversOwn;
}

void* CL_API_CALL functionAddress(const char* name) {
  beforeHandingOut(name);
  return handedOut(name, next().clGetExtensionFunctionAddress(name));
}

void* CL_API_CALL functionAddressForPlatform(cl_platform_id platform, const char* name) {
  beforeHandingOut(name);
  return handedOut(name, next().clGetExtensionFunctionAddressForPlatform(platform, name));
}

// Memory shared with a graphics API: the object never gets known, so it never gets split; but
// commands on it must keep their queue's order.
cl_int CL_API_CALL acquireGl(cl_command_queue queue, cl_uint objects, const cl_mem* memory,
                             cl_uint count, const cl_event* list, cl_event* event) {
  tracked([&] { session().settle({queue, CL_COMMAND_ACQUIRE_GL_OBJECTS, count, list}, {}); });
  return next().clEnqueueAcquireGLObjects(queue, objects, memory, count, list, event);
}

cl_int CL_API_CALL releaseGl(cl_command_queue queue, cl_uint objects, const cl_mem* memory,
                             cl_uint count, const cl_event* list, cl_event* event) {
  tracked([&] { session().settle({queue, CL_COMMAND_RELEASE_GL_OBJECTS, count, list}, {}); });
  return next().clEnqueueReleaseGLObjects(queue, objects, memory, count, list, event);
}

} // namespace

void overrideExtensions(runtime::Dispatch& table) {
  table.clGetExtensionFunctionAddress = functionAddress;
  table.clGetExtensionFunctionAddressForPlatform = functionAddressForPlatform;
  table.clEnqueueAcquireGLObjects = acquireGl;
  table.clEnqueueReleaseGLObjects = releaseGl;
}

} // namespace libsplit
