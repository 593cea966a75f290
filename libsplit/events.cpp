// Events, markers and barriers.
#include "libsplit/door.h"

#include "runtime/core/callback_scope.h"

#include <memory>

namespace libsplit {

namespace {

// Both also after libsplit has stepped aside: events that it gave out before live on.

cl_int CL_API_CALL retainEvent(cl_event event) {
  const cl_int status = next().clRetainEvent(event);
  if (status == CL_SUCCESS)
    guarded([&] {
      session().events().retained(event);
      return CL_SUCCESS;
    });
  return status;
}

cl_int CL_API_CALL releaseEvent(cl_event event) {
  guarded([&] {
    session().events().released(event);
    return CL_SUCCESS;
  });
  return next().clReleaseEvent(event);
}

cl_int CL_API_CALL eventInfo(cl_event event, cl_event_info name, size_t size, void* value,
                             size_t* sizeRet) {
  return guarded([&] {
    session().asksFor(event);
    auto answer = session().events().info(event, name, size, value, sizeRet);
    return answer ? *answer : next().clGetEventInfo(event, name, size, value, sizeRet);
  });
}

cl_int CL_API_CALL eventProfilingInfo(cl_event event, cl_profiling_info name, size_t size,
                                      void* value, size_t* sizeRet) {
  return guarded([&] {
    auto answer = session().events().profilingInfo(event, name, size, value, sizeRet);
    return answer ? *answer : next().clGetEventProfilingInfo(event, name, size, value, sizeRet);
  });
}

cl_int CL_API_CALL waitForEvents(cl_uint count, const cl_event* list) {
  cl_int ours = CL_SUCCESS;
  tracked([&] { ours = session().awaitEvents(count, list); });
  const cl_int status = next().clWaitForEvents(count, list);
  const bool isListWrong =
      status == CL_INVALID_VALUE || status == CL_INVALID_CONTEXT || status == CL_INVALID_EVENT;
  // Of user events that failed, which stand in for commands, some drivers say something else.
  return ours != CL_SUCCESS && !isListWrong ? ours : status;
}

using Notify = void(CL_CALLBACK*)(cl_event event, cl_int status, void* data);

/// A callback of the program. One for CL_RUNNING, a state that libsplit's own events never have
/// (they are the driver's user events), is called when they end.
struct EventCallback {
  Notify notify;
  void* data;
  bool isForRunning;

  static void CL_CALLBACK call(cl_event event, cl_int status, void* self) {
    const std::unique_ptr<EventCallback> callback(static_cast<EventCallback*>(self));
    const runtime::CallbackScope scope;
    callback->notify(event, callback->isForRunning && status >= 0 ? CL_RUNNING : status,
                     callback->data);
    guarded([&] {
      session().events().callbackOver(event);
      return CL_SUCCESS;
    });
  }
};

cl_int CL_API_CALL setEventCallback(cl_event event, cl_int type, Notify notify, void* data) {
  tracked([] { session().callbackGiven(); });
  return guarded([&] {
    if (!notify)
      return next().clSetEventCallback(event, type, notify, data);
    const bool comesAtEnd = type == CL_RUNNING && session().events().contains(event);
    auto callback = std::make_unique<EventCallback>(notify, data, comesAtEnd);
    session().events().callbackSet(event);
    const cl_int status = next().clSetEventCallback(event, comesAtEnd ? CL_COMPLETE : type,
                                                    EventCallback::call, callback.get());
    if (status == CL_SUCCESS)
      callback.release(); // it deletes itself
    else
      session().events().callbackOver(event);
    return status;
  });
}

cl_event CL_API_CALL createUserEvent(cl_context context, cl_int* error) {
  session().userEventCreated();
  cl_event event = next().clCreateUserEvent(context, error);
  if (!event)
    session().userEventSet();
  return event;
}

cl_int CL_API_CALL setUserEventStatus(cl_event event, cl_int status) {
  return guarded([&] {
    if (session().events().contains(event))
      return CL_INVALID_EVENT;
    const cl_int answer = next().clSetUserEventStatus(event, status);
    if (answer == CL_SUCCESS)
      session().userEventSet();
    if (answer == CL_SUCCESS && status < CL_COMPLETE)
      session().queues().userEventFailed();
    return answer;
  });
}

cl_int CL_API_CALL markerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list,
                                      cl_event* event) {
  return guarded([&] {
    return session().commands().enqueue(
        {queue, CL_COMMAND_MARKER, count, list, event}, {},
        [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueMarkerWithWaitList(queue, n, events, done);
        });
  });
}

cl_int CL_API_CALL barrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list,
                                       cl_event* event) {
  return guarded([&] {
    return session().commands().enqueue(
        {queue, CL_COMMAND_BARRIER, count, list, event}, {},
        [=](cl_bool, cl_uint n, const cl_event* events, cl_event* done) {
          return next().clEnqueueBarrierWithWaitList(queue, n, events, done);
        });
  });
}

// The forms of OpenCL 1.1, in terms of the driver's own as long as the queue is native.

cl_int CL_API_CALL marker(cl_command_queue queue, cl_event* event) {
  if (!event)
    return next().clEnqueueMarker(queue, event);
  return markerWithWaitList(queue, 0, nullptr, event);
}

cl_int CL_API_CALL barrier(cl_command_queue queue) {
  return barrierWithWaitList(queue, 0, nullptr, nullptr);
}

cl_int CL_API_CALL waitForEventsInQueue(cl_command_queue queue, cl_uint count,
                                        const cl_event* list) {
  if (count == 0 || !list)
    return next().clEnqueueWaitForEvents(queue, count, list); // drivers name different errors
  return barrierWithWaitList(queue, count, list, nullptr);
}

} // namespace

void overrideEvents(runtime::Functions& table) {
  table.clRetainEvent = retainEvent;
  table.clReleaseEvent = releaseEvent;
  table.clGetEventInfo = eventInfo;
  table.clGetEventProfilingInfo = eventProfilingInfo;
  table.clWaitForEvents = waitForEvents;
  table.clSetEventCallback = setEventCallback;
  table.clCreateUserEvent = createUserEvent;
  table.clSetUserEventStatus = setUserEventStatus;
  table.clEnqueueMarkerWithWaitList = markerWithWaitList;
  table.clEnqueueBarrierWithWaitList = barrierWithWaitList;
  table.clEnqueueMarker = marker;
  table.clEnqueueBarrier = barrier;
  table.clEnqueueWaitForEvents = waitForEventsInQueue;
}

} // namespace libsplit
