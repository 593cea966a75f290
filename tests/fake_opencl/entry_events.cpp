// Events of the fake OpenCL, those of programs too.
#include "tests/fake_opencl/driver.h"

namespace libsplit::fake {

namespace {

cl_event CL_API_CALL createUserEvent(cl_context context, cl_int* error) {
  Call call("clCreateUserEvent", context);
  if (call.error)
    return refuse(error, call.error);
  auto event = std::make_unique<_cl_event>();
  event->context = Keep<cl_context>(context);
  event->type = CL_COMMAND_USER;
  event->status = CL_SUBMITTED;
  return granted(error, driver().adopt(std::move(event)));
}

cl_int CL_API_CALL setUserEventStatus(cl_event event, cl_int status) {
  Call call("clSetUserEventStatus", event);
  if (call.error)
    return call.error;
  if (event->queue)
    return CL_INVALID_EVENT;
  if (status > CL_COMPLETE)
    return CL_INVALID_VALUE;
  if (event->over())
    return CL_INVALID_OPERATION;
  driver().engine.end(call.lock, event, status);
  return CL_SUCCESS;
}

cl_int CL_API_CALL waitForEvents(cl_uint count, const cl_event* events) {
  if (count == 0 || !events)
    return CL_INVALID_VALUE;
  Call call("clWaitForEvents", events[0]);
  if (call.error)
    return call.error;
  for (cl_uint i = 0; i < count; ++i) {
    if (!driver().isAlive(events[i]))
      return CL_INVALID_EVENT;
    if (events[i]->context.get() != events[0]->context.get())
      return CL_INVALID_CONTEXT;
  }
  cl_int worst = CL_SUCCESS;
  for (cl_uint i = 0; i < count; ++i)
    if (driver().engine.wait(call.lock, events[i]) < 0)
      worst = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  return worst;
}

cl_int CL_API_CALL getEventInfo(cl_event event, cl_event_info name, std::size_t size, void* value,
                                std::size_t* sizeRet) {
  Call call("clGetEventInfo", event);
  if (call.error)
    return call.error;
  if (event->isLocked) {
    const Keep<cl_event> keep(event);
    event->ended.wait(call.lock, [&] { return !event->isLocked; });
  }
  const Answer answer{size, value, sizeRet};
  switch (name) {
  case CL_EVENT_COMMAND_QUEUE:
    return answer.one(event->queue.get());
  case CL_EVENT_CONTEXT:
    return answer.one(event->context.get());
  case CL_EVENT_COMMAND_TYPE:
    return answer.one(event->type);
  case CL_EVENT_COMMAND_EXECUTION_STATUS:
    return answer.one(event->status);
  case CL_EVENT_REFERENCE_COUNT:
    return answer.one(static_cast<cl_uint>(event->references));
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL getEventProfilingInfo(cl_event event, cl_profiling_info name, std::size_t size,
                                         void* value, std::size_t* sizeRet) {
  Call call("clGetEventProfilingInfo", event);
  if (call.error)
    return call.error;
  if (!event->profiled || !event->over())
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  const Answer answer{size, value, sizeRet};
  switch (name) {
  case CL_PROFILING_COMMAND_QUEUED:
  case CL_PROFILING_COMMAND_SUBMIT:
  case CL_PROFILING_COMMAND_START:
  case CL_PROFILING_COMMAND_END: {
    // Each device has a clock of its own.
    const cl_ulong offset = cl_ulong{1'000'000'000'000} * (event->queue->device->number + 1);
    return answer.one<cl_ulong>(event->times[name - CL_PROFILING_COMMAND_QUEUED] + offset);
  }
  default:
    return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL setEventCallback(cl_event event, cl_int at,
                                    void(CL_CALLBACK* function)(cl_event, cl_int, void*),
                                    void* data) {
  Call call("clSetEventCallback", event);
  if (call.error)
    return call.error;
  if (!function || at < CL_COMPLETE || at > CL_SUBMITTED)
    return CL_INVALID_VALUE;
  driver().engine.call(call.lock, event, {at, function, data});
  return CL_SUCCESS;
}

} // namespace

void addEvents(cl_icd_dispatch& table) {
  table.clCreateUserEvent = createUserEvent;
  table.clSetUserEventStatus = setUserEventStatus;
  table.clWaitForEvents = waitForEvents;
  table.clGetEventInfo = getEventInfo;
  table.clGetEventProfilingInfo = getEventProfilingInfo;
  table.clSetEventCallback = setEventCallback;
  table.clRetainEvent = retainHandle<cl_event>;
  table.clReleaseEvent = releaseHandle<cl_event>;
}

} // namespace libsplit::fake
