// Buffers and images as objects.
#include "libsplit/destructor_callback.h"
#include "libsplit/door.h"

namespace libsplit {

namespace {

/// Has the driver make an object; again, as long as it has no memory for it and libsplit may have
/// some.
template <class Make> cl_mem made(cl_context context, cl_int* error, const Make& make) {
  cl_int status = CL_SUCCESS;
  cl_mem object = make(&status);
  for (unsigned attempt = 0; lacksMemory(status); ++attempt) {
    bool mayTryAgain = false;
    tracked([&] { mayTryAgain = session().makeRoom(context, attempt); });
    if (!mayTryAgain)
      break;
    object = make(&status);
  }
  report(error, status);
  return object;
}

/// The program made a buffer, perhaps of its own memory.
void noteBuffer(cl_mem buffer, cl_mem_flags flags, size_t size, const void* host) {
  tracked([&] {
    session().memory().bufferCreated(buffer);
    if (flags & CL_MEM_USE_HOST_PTR)
      session().driverMemory(host, size);
  });
}

cl_mem CL_API_CALL createBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                                cl_int* error) {
  cl_mem buffer = made(context, error, [&](cl_int* status) {
    return next().clCreateBuffer(context, flags, size, host, status);
  });
  if (buffer)
    noteBuffer(buffer, flags, size, host);
  return buffer;
}

cl_mem CL_API_CALL createBufferWithProperties(cl_context context,
                                              const cl_mem_properties* properties,
                                              cl_mem_flags flags, size_t size, void* host,
                                              cl_int* error) {
  cl_mem buffer = made(context, error, [&](cl_int* status) {
    return next().clCreateBufferWithProperties(context, properties, flags, size, host, status);
  });
  // With properties it may be somebody else's memory: that stays the driver's business alone.
  if (buffer && (!properties || properties[0] == 0))
    noteBuffer(buffer, flags, size, host);
  return buffer;
}

cl_mem CL_API_CALL createSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                   const void* info, cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_mem part = next().clCreateSubBuffer(parent, flags, type, info, &status);
  report(error, status);
  if (part)
    tracked([&] { session().memory().subBufferCreated(part, parent); });
  return part;
}

void imageMade(cl_mem image, const cl_image_desc* description) {
  if (!image)
    return;
  tracked([&] {
    if (description && description->mem_object)
      session().memory().imageOverBuffer(image, description->mem_object);
    else
      session().memory().imageCreated(image);
  });
}

cl_mem CL_API_CALL createImage(cl_context context, cl_mem_flags flags,
                               const cl_image_format* format, const cl_image_desc* description,
                               void* host, cl_int* error) {
  cl_mem image = made(context, error, [&](cl_int* status) {
    return next().clCreateImage(context, flags, format, description, host, status);
  });
  imageMade(image, description);
  return image;
}

cl_mem CL_API_CALL createImageWithProperties(cl_context context,
                                             const cl_mem_properties* properties,
                                             cl_mem_flags flags, const cl_image_format* format,
                                             const cl_image_desc* description, void* host,
                                             cl_int* error) {
  cl_mem image = made(context, error, [&](cl_int* status) {
    return next().clCreateImageWithProperties(context, properties, flags, format, description, host,
                                              status);
  });
  imageMade(image, description);
  if (image && properties && properties[0] != 0)
    tracked([&] { session().memory().keepAtHome(image, "it may be somebody else's memory"); });
  return image;
}

cl_mem CL_API_CALL createImage2D(cl_context context, cl_mem_flags flags,
                                 const cl_image_format* format, size_t width, size_t height,
                                 size_t pitch, void* host, cl_int* error) {
  cl_mem image = made(context, error, [&](cl_int* status) {
    return next().clCreateImage2D(context, flags, format, width, height, pitch, host, status);
  });
  imageMade(image, nullptr);
  return image;
}

cl_mem CL_API_CALL createImage3D(cl_context context, cl_mem_flags flags,
                                 const cl_image_format* format, size_t width, size_t height,
                                 size_t depth, size_t rowPitch, size_t slicePitch, void* host,
                                 cl_int* error) {
  cl_mem image = made(context, error, [&](cl_int* status) {
    return next().clCreateImage3D(context, flags, format, width, height, depth, rowPitch,
                                  slicePitch, host, status);
  });
  imageMade(image, nullptr);
  return image;
}

cl_int CL_API_CALL retainMemory(cl_mem object) {
  return retained(next().clRetainMemObject(object), &runtime::Session::memory, object);
}

cl_int CL_API_CALL releaseMemory(cl_mem object) {
  tracked([&] { session().memory().released(object); });
  return next().clReleaseMemObject(object);
}

void noteSampler(cl_sampler sampler) {
  if (sampler)
    tracked([&] { session().samplers().created(sampler); });
}

cl_sampler CL_API_CALL createSampler(cl_context context, cl_bool normalized,
                                     cl_addressing_mode addressing, cl_filter_mode filter,
                                     cl_int* error) {
  cl_sampler sampler = next().clCreateSampler(context, normalized, addressing, filter, error);
  noteSampler(sampler);
  return sampler;
}

cl_sampler CL_API_CALL createSamplerWithProperties(cl_context context,
                                                   const cl_sampler_properties* properties,
                                                   cl_int* error) {
  cl_sampler sampler = next().clCreateSamplerWithProperties(context, properties, error);
  noteSampler(sampler);
  return sampler;
}

cl_int CL_API_CALL retainSampler(cl_sampler sampler) {
  return retained(next().clRetainSampler(sampler), &runtime::Session::samplers, sampler);
}

cl_int CL_API_CALL setMemoryCallback(cl_mem object, void(CL_CALLBACK* notify)(cl_mem, void*),
                                     void* data) {
  const cl_int status = DestructorCallback<cl_mem>::give(notify, data, [=](auto* own, void* with) {
    return next().clSetMemObjectDestructorCallback(object, own, with);
  });
  if (status == CL_SUCCESS)
    tracked([&] { session().memory().endIsTold(object); });
  return status;
}

cl_int CL_API_CALL releaseSampler(cl_sampler sampler) {
  tracked([&] { session().samplers().released(sampler); });
  return next().clReleaseSampler(sampler);
}

cl_int CL_API_CALL setKernelArgSvmPointer(cl_kernel kernel, cl_uint index, const void* value) {
  const cl_int status = next().clSetKernelArgSVMPointer(kernel, index, value);
  if (status == CL_SUCCESS)
    tracked([&] {
      session().kernels().argumentUnfollowed(kernel, index, "an argument is an SVM pointer");
    });
  return status;
}

cl_int CL_API_CALL setKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name, size_t size,
                                     const void* value) {
  const cl_int status = next().clSetKernelExecInfo(kernel, name, size, value);
  if (status == CL_SUCCESS)
    tracked([&] { session().kernels().becameOpaque(kernel, "it uses SVM pointers indirectly"); });
  return status;
}

} // namespace

void overrideMemory(runtime::Functions& table) {
  table.clCreateBuffer = createBuffer;
  table.clCreateBufferWithProperties = createBufferWithProperties;
  table.clCreateSubBuffer = createSubBuffer;
  table.clCreateImage = createImage;
  table.clCreateImageWithProperties = createImageWithProperties;
  table.clCreateImage2D = createImage2D;
  table.clCreateImage3D = createImage3D;
  table.clRetainMemObject = retainMemory;
  table.clReleaseMemObject = releaseMemory;
  table.clSetMemObjectDestructorCallback = setMemoryCallback;
  table.clCreateSampler = createSampler;
  table.clCreateSamplerWithProperties = createSamplerWithProperties;
  table.clRetainSampler = retainSampler;
  table.clReleaseSampler = releaseSampler;
  table.clSetKernelArgSVMPointer = setKernelArgSvmPointer;
  table.clSetKernelExecInfo = setKernelExecInfo;
}

} // namespace libsplit
