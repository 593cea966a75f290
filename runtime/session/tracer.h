// What a session tells the trace: each task when it retires, since only then are all times known.
#pragma once

#include "runtime/device/machine.h"
#include "runtime/plan/planner.h"
#include "runtime/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace libsplit::runtime {

struct Launch;
struct Task;

/// Under the session's lock. While tracing is off, which it is at first, all of this does nothing,
/// and what it makes is null.
class Tracer {
public:
  /// `file`: as LIBSPLIT_TRACE has it.
  void open(const std::string& file);
  void close();
  explicit operator bool() const { return trace_ != nullptr; }

  // What instructions are to note of themselves.
  /// `uncounted`: why the bytes are not among those that moved between nodes; null: they are.
  std::shared_ptr<TracedWork> transfer(bool toHost, std::uint64_t bytes,
                                       const char* uncounted) const;
  std::shared_ptr<TracedWork> command(const Task& task) const;
  std::shared_ptr<TracedWork> piece(const Launch& launch, const Piece& piece,
                                    unsigned dimension) const;
  std::shared_ptr<TracedWork> step(const char* name) const;

  /// The program calls, in this thread.
  void callBegins(Task& task, cl_command_type type, bool blocking) const;
  void callReturns(Task& task) const;
  /// It is a launch.
  void launches(Task& task, const Launch& launch) const;
  /// A launch goes straight to the driver, since `why`.
  void native(const std::string& kernel, const std::string& why, std::span<const Device> devices);
  /// A task is over. `devices`: all that there are; more may come, but none goes.
  void retired(const Task& task, std::span<const Device> devices);
  /// What devices did for it; the time when the first of that began.
  HostTime work(const Task& task);

private:
  void nameDevices(std::span<const Device> devices);
  void balance(const Task& task, HostTime at, std::span<const Device> devices);

  std::unique_ptr<Trace> trace_;
  std::size_t named_ = 0; ///< devices
};

} // namespace libsplit::runtime
