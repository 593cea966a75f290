// The events that libsplit gave to the program: their references, and what they answer.
#pragma once

#include "runtime/session/stream.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace libsplit::runtime {

class EventTable {
public:
  /// `mutex`: the session's lock, which guards the entries, too.
  explicit EventTable(std::mutex& mutex) : mutex_(mutex) {}

  // As the program calls, without the lock. They do nothing to events that are the driver's.
  void retained(cl_event event);
  void released(cl_event event);
  /// The program wants to be told of what becomes of the event. It can ask for the event until
  /// `callbackOver`, whatever it has released. False if it is the driver's.
  bool callbackSet(cl_event event);
  /// It was told, or the driver refused that.
  void callbackOver(cl_event event);
  bool contains(cl_event event);
  /// Answers a query as drivers do; nothing if it is the driver's to answer.
  std::optional<cl_int> info(cl_event event, cl_event_info name, std::size_t size, void* value,
                             std::size_t* sizeRet);
  std::optional<cl_int> profilingInfo(cl_event event, cl_profiling_info name, std::size_t size,
                                      void* value, std::size_t* sizeRet);
  /// An event, and the queue whose command's it stands for.
  struct StandIn {
    Ref<cl_event> event;
    cl_command_queue queue;
  };
  std::vector<StandIn> standIns();
  /// Costs no lock.
  bool isEmpty() const { return count_ == 0; }

  // With the lock.
  void add(cl_event event, std::shared_ptr<TaskEvent> entry);
  /// Null if it is the driver's.
  std::shared_ptr<TaskEvent> find(cl_event event) const;
  /// An event that the program has released, and its queue, though the task may hold the event:
  /// both are to go without the lock.
  struct Gone {
    std::shared_ptr<TaskEvent> event;
    Ref<cl_command_queue> queue;
  };
  [[nodiscard]] Gone forget(cl_event event);

private:
  template <class Change> void change(cl_event event, const Change& change);

  std::mutex& mutex_;
  std::unordered_map<cl_event, std::shared_ptr<TaskEvent>> events_;
  std::atomic<std::size_t> count_ = 0;
};

} // namespace libsplit::runtime
