// What a session tells the trace: each task when it retires, since only then are all times known.
#pragma once

#include "runtime/device/memory.h"
#include "runtime/plan/planner.h"
#include "runtime/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
  /// `file`: as LIBSPLIT_TRACE has it. `minLaunchSeconds`: launches that take less at home are not
  /// split, as far as that is known yet.
  void open(const std::string& file, double minLaunchSeconds);
  void close();
  explicit operator bool() const { return trace_ != nullptr; }

  // What instructions are to note of themselves.
  std::shared_ptr<TracedWork> transfer(bool toHost, const Buffer& buffer, std::uint64_t bytes,
                                       Uncounted uncounted = record::Uncounted::No);
  std::shared_ptr<TracedWork> command(const Task& task);
  std::shared_ptr<TracedWork> piece(const Launch& launch, const Piece& piece, unsigned dimension);
  std::shared_ptr<TracedWork> step(const char* name);

  /// The program calls, in this thread.
  void callBegins(Task& task, cl_command_type type, bool blocking);
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
  void native(const std::string& kernel, std::string_view why, std::span<const Device> devices);
  /// A task is over. `devices`: all that there are; more may come, but none goes.
  void retired(Task& task, std::span<const Device> devices);
  /// What was sent ahead for another task has arrived.
  void arrived(Task& task);

private:
  /// By all that is said of a launch.
  using LaunchKey = std::vector<std::uint64_t>;
  struct LaunchHash {
    std::size_t operator()(const LaunchKey& key) const;
  };

  std::shared_ptr<TracedWork> work();
  void describe(std::span<const Device> devices);
  std::uint64_t numberOf(const Buffer& buffer);
  std::uint64_t numberOf(KernelCode& code);
  std::uint32_t nameOf(KernelCode& code);
  std::uint64_t numberOf(const Launch& launch);
  record::LaunchBuffer describe(const Launch& launch, const BufferArgument& argument);
  bool describe(const Launch& launch, std::uint64_t number, std::uint64_t code);
  void holds(Task& task, const Buffer& buffer);
  void recordTask(Task& task, bool isAhead);

  std::unique_ptr<Trace> trace_;
  RecordBytes bytes_;
  bool programNamed_ = false;
  std::size_t described_ = 0; ///< devices
  // Buffers and kernels know themselves what was said of them. A number is given once.
  std::unordered_map<LaunchKey, std::uint64_t, LaunchHash> launches_;
  LaunchKey launchKey_; ///< keeps its memory
  std::unordered_map<cl_command_type, std::uint32_t> callNames_;
  std::uint64_t lastBuffer_ = 0, lastCode_ = 0, lastLaunch_ = 0, lastCall_ = 0, lastWork_ = 0;
};

} // namespace libsplit::runtime
