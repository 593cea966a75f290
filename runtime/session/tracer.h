// What a session tells the trace: each task when it retires, since only then are all times known.
#pragma once

#include "runtime/device/memory.h"
#include "runtime/plan/planner.h"
#include "runtime/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace libsplit::runtime {

struct KernelCode;
struct Launch;
struct Task;

/// Under the session's lock. While tracing is off, which it is at first, all of this does nothing,
/// and what it makes is null.
class Tracer {
public:
  /// `file`: as LIBSPLIT_TRACE has it. `minLaunchSeconds`: as in Options.
  void open(const std::string& file, double minLaunchSeconds);
  void close();
  explicit operator bool() const { return trace_ != nullptr; }

  // What instructions are to note of themselves.
  /// `uncounted`: why the bytes are not among those that moved between nodes; null: they are.
  std::shared_ptr<TracedWork> transfer(bool toHost, const Buffer& buffer, std::uint64_t bytes,
                                       const char* uncounted);
  std::shared_ptr<TracedWork> command(const Task& task) const;
  std::shared_ptr<TracedWork> piece(const Launch& launch, const Piece& piece,
                                    unsigned dimension) const;
  std::shared_ptr<TracedWork> step(const char* name) const;

  /// The program calls, in this thread.
  void callBegins(Task& task, cl_command_type type, bool blocking) const;
  void callReturns(Task& task) const;
  /// It is a launch.
  void launches(Task& task, const Launch& launch);
  /// It is a launch of which this has just been planned.
  void planned(Task& task, const Launch& launch);
  /// Reading, or writing, bytes of a buffer has just been planned for it.
  void planned(Task& task, const Buffer& buffer, const ByteSet& bytes, bool writes);
  /// A command of the program's writes, of which libsplit makes no task.
  void writesNatively(const Buffer& buffer, const ByteSet& bytes);
  /// A launch goes straight to the driver, since `why`.
  void native(const std::string& kernel, const std::string& why, std::span<const Device> devices);
  /// A task is over. `devices`: all that there are; more may come, but none goes.
  void retired(const Task& task, std::span<const Device> devices);
  /// What devices did for it; the time when the first of that began.
  HostTime work(const Task& task);

private:
  /// A kernel as it was described: by its summaries, since a program may be built anew.
  struct Code {
    std::uint64_t number = 0;
    std::vector<const KernelSummary*> summaries;
  };
  template <typename T, typename Number>
  using Numbers = std::map<std::weak_ptr<const T>, Number, std::owner_less<>>;

  void nameDevices(std::span<const Device> devices);
  void balance(const Task& task, HostTime at, std::span<const Device> devices);
  std::uint64_t numberOf(const Buffer& buffer);
  std::uint64_t numberOf(const std::shared_ptr<KernelCode>& code);
  std::uint64_t numberOf(const Launch& launch);
  void holds(Task& task, const Buffer& buffer);
  void showHoldings(const Task& task, std::span<const Device> devices);

  std::unique_ptr<Trace> trace_;
  bool applicationNamed_ = false;
  std::size_t named_ = 0; ///< devices
  // What was described so far. A number is given once.
  Numbers<Buffer, std::uint64_t> buffers_;
  Numbers<KernelCode, Code> codes_;
  std::unordered_map<std::string, std::uint64_t> launches_; ///< by all that is said of one
  std::uint64_t lastBuffer_ = 0, lastCode_ = 0, lastWork_ = 0;
  std::map<std::uint64_t, std::vector<std::uint64_t>> shown_; ///< holdings, by buffer
};

} // namespace libsplit::runtime
