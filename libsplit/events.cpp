// Events, markers and barriers.
#include "libsplit/door.h"

#include "runtime/core/callback_scope.h"
#include "runtime/core/forks.h"
#include "runtime/core/worker.h"

#include <exception>
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
  const runtime::BlockingCall waits = session().waits();
  runtime::Session::Finished ours;
  tracked([&] { ours = session().awaitEvents(count, list); });
  if (ours.isAll)
    return ours.status;
  const cl_int status = next().clWaitForEvents(count, list);
  const bool isListWrong =
      status == CL_INVALID_VALUE || status == CL_INVALID_CONTEXT || status == CL_INVALID_EVENT;
  // Of user events that failed, which stand in for commands, some drivers say something else.
  return ours.status != CL_SUCCESS && !isListWrong ? ours.status : status;
}

using Notify = void(CL_CALLBACK*)(cl_event event, cl_int status, void* data);

/// A callback of the program. One for CL_RUNNING, a state that libsplit's own events never have
/// (they are the driver's user events), is called when they end.
class EventCallback {
public:
  EventCallback(cl_event event, cl_int type, Notify notify, void* data)
      : notify_(notify), data_(data), isOurs_(session().events().callbackSet(event)),
        isForRunning_(isOurs_ && type == CL_RUNNING) {
    if (!isOurs_ && type != CL_COMPLETE)
      keeps_ = runtime::Ref<cl_event>::retain(next(), event);
  }

  /// What the driver is to call back for.
  cl_int typeFor(cl_int asked) const { return isForRunning_ ? CL_COMPLETE : asked; }
  /// The driver did not take it.
  void refused(cl_event event) const {
    if (isOurs_)
      session().events().callbackOver(event);
  }

  static void CL_CALLBACK call(cl_event event, cl_int status, void* self) {
    std::unique_ptr<EventCallback> callback(static_cast<EventCallback*>(self));
    if (callback->keeps_ && callback->tellApart(event, status))
      static_cast<void>(callback.release()); // it deletes itself
    else
      callback->tell(event, status);
  }

private:
  void tell(cl_event event, cl_int status) const {
    {
      const runtime::CallbackScope scope;
      const runtime::Forkable theirs; // what it does is the program's
      notify_(event, isForRunning_ && status >= 0 ? CL_RUNNING : status, data_);
    }
    if (isOurs_)
      guarded([&] {
        session().events().callbackOver(event);
        return CL_SUCCESS;
      });
  }

  /// On a thread that has nothing else to do; false if there is none. For commands that are not
  /// over: some drivers call back for those with a lock of the event's, for which whoever asks for
  /// it waits. That may be libsplit with its own lock, for which the callback would wait in turn
  /// when it calls OpenCL.
  bool tellApart(cl_event event, cl_int status) {
    static auto* const worker =
        new runtime::Worker; // for ever: drivers may call until the very end
    try {
      return worker->post([this, event, status] {
        const std::unique_ptr<EventCallback> own(this);
        tell(event, status);
      });
    } catch (const std::exception&) {
      return false;
    }
  }

  Notify notify_;
  void* data_;
  bool isOurs_, isForRunning_;
  runtime::Ref<cl_event> keeps_; ///< of the driver's, and not for its end
};

cl_int CL_API_CALL setEventCallback(cl_event event, cl_int type, Notify notify, void* data) {
  tracked([] { session().callbackGiven(); });
  return guarded([&] {
    if (!notify)
      return next().clSetEventCallback(event, type, notify, data);
    auto callback = std::make_unique<EventCallback>(event, type, notify, data);
    const cl_int status = next().clSetEventCallback(event, callback->typeFor(type),
                                                    EventCallback::call, callback.get());
    if (status == CL_SUCCESS)
      static_cast<void>(callback.release()); // it deletes itself
    else
      callback->refused(event);
    return status;
  });
}

cl_event CL_API_CALL createUserEvent(cl_context context, cl_int* error) {
  cl_event event = nullptr;
  report(error, guarded([&] {
           session().userEventCreated();
           cl_int status = CL_SUCCESS;
           event = next().clCreateUserEvent(context, &status);
           if (!event)
             session().userEventSet();
           return status;
         }));
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
