// A driver's events without a driver: made by tests, ended by tests.
#pragma once

#include "runtime/core/opencl.h"

#include <condition_variable>
#include <cstring>
#include <mutex>

namespace libsplit::runtime {

/// An event that `end` ends. Counts its references, and goes with the last.
class FakeEvent {
public:
  /// The caller's reference.
  static cl_event make() { return reinterpret_cast<cl_event>(new FakeEvent); }

  static void end(cl_event event, cl_int status = CL_COMPLETE) {
    FakeEvent& self = of(event);
    std::lock_guard lock(self.mutex_);
    self.status_ = status;
    self.changed_.notify_all();
  }

  /// What Completion and Lane call.
  static Dispatch dispatch() {
    Dispatch cl{};
    cl.clRetainEvent = [](cl_event event) -> cl_int {
      std::lock_guard lock(of(event).mutex_);
      ++of(event).references_;
      return CL_SUCCESS;
    };
    cl.clReleaseEvent = [](cl_event event) -> cl_int {
      std::unique_lock lock(of(event).mutex_);
      const bool isLast = --of(event).references_ == 0;
      lock.unlock();
      if (isLast)
        delete &of(event);
      return CL_SUCCESS;
    };
    cl.clWaitForEvents = [](cl_uint, const cl_event* events) -> cl_int {
      FakeEvent& self = of(events[0]);
      std::unique_lock lock(self.mutex_);
      self.changed_.wait(lock, [&] { return self.status_ <= CL_COMPLETE; });
      return self.status_ < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
    };
    cl.clGetEventInfo = [](cl_event event, cl_event_info, std::size_t, void* value,
                           std::size_t*) -> cl_int {
      std::lock_guard lock(of(event).mutex_);
      std::memcpy(value, &of(event).status_, sizeof(cl_int));
      return CL_SUCCESS;
    };
    cl.clFlush = [](cl_command_queue) -> cl_int { return CL_SUCCESS; };
    return cl;
  }

private:
  static FakeEvent& of(cl_event event) { return *reinterpret_cast<FakeEvent*>(event); }

  std::mutex mutex_;
  std::condition_variable changed_;
  cl_int status_ = CL_SUBMITTED;
  int references_ = 1;
};

} // namespace libsplit::runtime
