// Contexts and queues.
#include "libsplit/context_notify.h"
#include "libsplit/destructor_callback.h"
#include "libsplit/door.h"

namespace libsplit {

namespace {

/// A context, as `create` makes it of a callback and its data.
template <class Create>
cl_context contextThatTells(ContextNotify::Function notify, void* data, cl_int* error,
                            const Create& create) {
  ContextNotify* ours = nullptr;
  if (notify)
    tracked([&] { ours = &ContextNotify::of(notify, data); });
  cl_int status = CL_SUCCESS;
  cl_context context = ours ? create(ContextNotify::call, static_cast<void*>(ours), &status)
                            : create(notify, data, &status);
  report(error, status);
  if (context)
    tracked([&] {
      session().contexts().created(context);
      if (ours)
        ours->given(context);
    });
  return context;
}

cl_context CL_API_CALL createContext(
    const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data, cl_int* error) {
  return contextThatTells(notify, data, error, [=](auto* told, void* with, cl_int* status) {
    return next().clCreateContext(properties, count, devices, told, with, status);
  });
}

cl_context CL_API_CALL createContextFromType(
    const cl_context_properties* properties, cl_device_type type,
    void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data, cl_int* error) {
  return contextThatTells(notify, data, error, [=](auto* told, void* with, cl_int* status) {
    return next().clCreateContextFromType(properties, type, told, with, status);
  });
}

cl_int CL_API_CALL retainContext(cl_context context) {
  return retained(next().clRetainContext(context), &runtime::Session::contexts, context);
}

cl_int CL_API_CALL releaseContext(cl_context context) {
  tracked([&] {
    if (session().contextReleased(context))
      ContextNotify::released(context);
  });
  return next().clReleaseContext(context);
}

cl_int CL_API_CALL setContextCallback(cl_context context,
                                      void(CL_CALLBACK* notify)(cl_context, void*), void* data) {
  return DestructorCallback<cl_context>::give(notify, data, [=](auto* own, void* with) {
    return next().clSetContextDestructorCallback(context, own, with);
  });
}

cl_command_queue CL_API_CALL createQueue(cl_context context, cl_device_id device,
                                         cl_command_queue_properties properties, cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_command_queue queue = next().clCreateCommandQueue(context, device, properties, &status);
  report(error, status);
  if (queue)
    tracked([&] { session().queues().created(queue); });
  return queue;
}

cl_command_queue CL_API_CALL createQueueWithProperties(cl_context context, cl_device_id device,
                                                       const cl_queue_properties* properties,
                                                       cl_int* error) {
  cl_int status = CL_SUCCESS;
  cl_command_queue queue =
      next().clCreateCommandQueueWithProperties(context, device, properties, &status);
  report(error, status);
  if (queue)
    tracked([&] { session().queues().created(queue); });
  return queue;
}

cl_int CL_API_CALL setQueueProperty(cl_command_queue queue, cl_command_queue_properties properties,
                                    cl_bool enable, cl_command_queue_properties* old) {
  tracked([&] { session().queues().changing(queue, properties); });
  const cl_int status = next().clSetCommandQueueProperty(queue, properties, enable, old);
  tracked([&] { session().queues().changed(queue); });
  return status;
}

cl_int CL_API_CALL retainQueue(cl_command_queue queue) {
  return retained(next().clRetainCommandQueue(queue), &runtime::Session::queues, queue);
}

cl_int CL_API_CALL releaseQueue(cl_command_queue queue) {
  tracked([&] { session().queueReleased(queue); });
  return next().clReleaseCommandQueue(queue);
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  const runtime::BlockingCall waits = session().waits();
  runtime::Session::Finished finished;
  const cl_int failure = guarded([&] {
    if (session().active())
      finished = session().finishQueue(queue);
    return CL_SUCCESS;
  });
  if (failure != CL_SUCCESS)
    return failure; // not all that it has to wait for is over
  const cl_int status = finished.isAll ? CL_SUCCESS : next().clFinish(queue);
  return status != CL_SUCCESS ? status : finished.status;
}

cl_int CL_API_CALL createSubDevices(cl_device_id device,
                                    const cl_device_partition_property* properties, cl_uint count,
                                    cl_device_id* devices, cl_uint* countRet) {
  if (devices)
    tracked([&] { session().stepAside("the program partitions a device itself"); });
  return next().clCreateSubDevices(device, properties, count, devices, countRet);
}

} // namespace

void overrideObjects(runtime::Functions& table) {
  table.clCreateContext = createContext;
  table.clCreateContextFromType = createContextFromType;
  table.clRetainContext = retainContext;
  table.clReleaseContext = releaseContext;
  table.clSetContextDestructorCallback = setContextCallback;
  table.clCreateCommandQueue = createQueue;
  table.clCreateCommandQueueWithProperties = createQueueWithProperties;
  table.clRetainCommandQueue = retainQueue;
  table.clReleaseCommandQueue = releaseQueue;
  table.clFinish = finish;
  table.clSetCommandQueueProperty = setQueueProperty;
  table.clCreateSubDevices = createSubDevices;
}

} // namespace libsplit
