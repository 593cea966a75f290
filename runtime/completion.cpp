#include "runtime/completion.h"

namespace libsplit::runtime {

CompletionPtr Completion::of(const Dispatch& cl, cl_event event) {
  auto completion = std::make_shared<Completion>(cl);
  completion->submit(Ref<cl_event>::retain(cl, event), nullptr);
  return completion;
}

void Completion::submit(Ref<cl_event> event, cl_command_queue queue) {
  std::lock_guard lock(mutex_);
  event_ = std::move(event);
  queue_ = queue;
  state_ = State::Submitted;
  changed_.notify_all();
}

void Completion::begin(Ref<cl_event> first) {
  std::lock_guard lock(mutex_);
  first_ = std::move(first);
}

void Completion::finish(cl_int status) {
  std::lock_guard lock(mutex_);
  status_ = status;
  state_ = State::Over;
  changed_.notify_all();
}

void Completion::waitSubmitted() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return state_ != State::Pending; });
}

cl_int Completion::wait() {
  cl_event event = nullptr;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return state_ != State::Pending; });
    if (state_ == State::Over)
      return status_;
    event = event_.get();
  }
  cl_int status = cl_.clWaitForEvents(1, &event);
  if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
    auto executed = property<cl_int>(cl_.clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
    if (executed < 0)
      status = executed;
  }
  std::lock_guard lock(mutex_);
  if (state_ != State::Over) {
    status_ = status;
    state_ = State::Over;
  }
  return status_;
}

bool Completion::precedes(cl_command_queue queue) const {
  std::lock_guard lock(mutex_);
  return state_ == State::Over ? status_ >= 0
                               : state_ == State::Submitted && queue_ && queue_ == queue;
}

bool Completion::submitted() const {
  std::lock_guard lock(mutex_);
  return state_ != State::Pending;
}

bool Completion::over() const {
  std::lock_guard lock(mutex_);
  return state_ == State::Over;
}

bool Completion::poll() {
  std::lock_guard lock(mutex_);
  if (state_ != State::Submitted)
    return state_ == State::Over;
  const auto status = property<cl_int>(cl_.clGetEventInfo, event_.get(),
                                       CL_EVENT_COMMAND_EXECUTION_STATUS, CL_QUEUED);
  if (status > CL_COMPLETE)
    return false;
  status_ = status;
  state_ = State::Over;
  return true;
}

std::optional<cl_ulong> Completion::profilingTime(cl_profiling_info name) const {
  std::lock_guard lock(mutex_);
  cl_ulong time = 0;
  const bool ends = name == CL_PROFILING_COMMAND_END || !first_;
  const cl_event event = ends ? event_.get() : first_.get();
  if (!event_ ||
      cl_.clGetEventProfilingInfo(event, name, sizeof time, &time, nullptr) != CL_SUCCESS)
    return std::nullopt;
  return time;
}

std::optional<DeviceInterval> Completion::interval() const {
  auto start = profilingTime(CL_PROFILING_COMMAND_START);
  auto end = profilingTime(CL_PROFILING_COMMAND_END);
  if (!start || !end)
    return std::nullopt;
  return DeviceInterval{*start, *end};
}

} // namespace libsplit::runtime
