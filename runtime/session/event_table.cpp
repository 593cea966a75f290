#include "runtime/session/event_table.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace libsplit::runtime {

/// Changes the entry of an event, which goes if the program can ask for it no more.
template <class Change> void EventTable::change(cl_event event, const Change& change) {
  if (isEmpty())
    return;
  Gone last; // destroyed after the lock is gone
  std::lock_guard lock(mutex_);
  auto found = events_.find(event);
  if (found == events_.end())
    return;
  TaskEvent& entry = *found->second;
  change(entry);
  // Those who are to be told of it may ask for it then, which may be long after it has ended.
  if (entry.references == 0 && entry.callbacks == 0)
    last = forget(event);
}

void EventTable::retained(cl_event event) {
  change(event, [](TaskEvent& entry) { ++entry.references; });
}

void EventTable::released(cl_event event) {
  change(event, [](TaskEvent& entry) { --entry.references; });
}

bool EventTable::callbackSet(cl_event event) {
  constexpr std::chrono::milliseconds patience(100);
  constexpr std::chrono::microseconds pause(50);
  if (isEmpty())
    return false;
  std::unique_lock lock(mutex_);
  const std::shared_ptr<TaskEvent> entry = find(event);
  // Else it is called by the thread that completes the event, which never calls back: it may be one
  // of the program's, with a lock of the program's.
  const auto begin = std::chrono::steady_clock::now();
  while (entry && entry->completing && !entry->complete &&
         std::chrono::steady_clock::now() - begin < patience) {
    lock.unlock();
    std::this_thread::sleep_for(pause);
    lock.lock();
  }
  if (entry)
    ++entry->callbacks;
  return entry != nullptr;
}

void EventTable::callbackOver(cl_event event) {
  change(event, [](TaskEvent& entry) { entry.callbacks -= entry.callbacks > 0; });
}

EventTable::Gone EventTable::forget(cl_event event) {
  Gone gone;
  if (const auto found = events_.find(event); found != events_.end()) {
    gone.event = std::move(found->second);
    gone.queue = std::move(gone.event->queue);
    events_.erase(found);
    count_ = events_.size();
  }
  return gone;
}

bool EventTable::contains(cl_event event) {
  std::lock_guard lock(mutex_);
  return events_.contains(event);
}

std::optional<cl_int> EventTable::info(cl_event event, cl_event_info name, std::size_t size,
                                       void* value, std::size_t* sizeRet) {
  std::lock_guard lock(mutex_);
  auto found = events_.find(event);
  if (found == events_.end())
    return std::nullopt;
  const TaskEvent& ours = *found->second;
  switch (name) {
  case CL_EVENT_COMMAND_QUEUE:
    return answer(ours.queue.get(), size, value, sizeRet);
  case CL_EVENT_COMMAND_TYPE:
    return answer(ours.type, size, value, sizeRet);
  case CL_EVENT_REFERENCE_COUNT:
    return answer(static_cast<cl_uint>(std::max(ours.references, 1)), size, value, sizeRet);
  case CL_EVENT_COMMAND_EXECUTION_STATUS: {
    auto task = ours.task.lock();
    cl_int status = ours.ended ? ours.status : task && task->isParked() ? CL_QUEUED : CL_SUBMITTED;
    return answer(status, size, value, sizeRet);
  }
  default:
    return std::nullopt;
  }
}

std::optional<cl_int> EventTable::profilingInfo(cl_event event, cl_profiling_info name,
                                                std::size_t size, void* value,
                                                std::size_t* sizeRet) {
  std::lock_guard lock(mutex_);
  auto found = events_.find(event);
  if (found == events_.end())
    return std::nullopt;
  const TaskEvent& ours = *found->second;
  if (!ours.ended || !ours.profiled || ours.status < 0)
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  switch (name) {
  case CL_PROFILING_COMMAND_QUEUED:
  case CL_PROFILING_COMMAND_SUBMIT:
  case CL_PROFILING_COMMAND_START:
  case CL_PROFILING_COMMAND_END:
    return answer(ours.times[name - CL_PROFILING_COMMAND_QUEUED], size, value, sizeRet);
  case CL_PROFILING_COMMAND_COMPLETE:
    return answer(ours.times[3], size, value, sizeRet);
  default:
    return CL_INVALID_VALUE;
  }
}

std::vector<EventTable::StandIn> EventTable::standIns() {
  std::lock_guard lock(mutex_);
  std::vector<StandIn> all;
  for (const auto& [handle, event] : events_)
    all.push_back({event->handle, event->queue.get()});
  return all;
}

void EventTable::add(cl_event event, std::shared_ptr<TaskEvent> entry) {
  events_[event] = std::move(entry);
  count_ = events_.size();
}

std::shared_ptr<TaskEvent> EventTable::find(cl_event event) const {
  auto found = events_.find(event);
  return found == events_.end() ? nullptr : found->second;
}

} // namespace libsplit::runtime
