// LIBSPLIT_TRACE: what ran where and when, as Chrome trace events, which Perfetto opens.
//
// Process 1 of the trace is the application: a track per thread that called, a slice per call. Each
// device is a process of its own, with one track for kernels, one for each direction of transfers,
// and one for other commands. An arrow leads from the call to everything that it caused. Counters
// show each kernel's shares and how far from balanced its last launch was, and which memory holds
// how much of a buffer.
//
// Beside what happened the file says what the launches were, so that whoever reads it can ask the
// planner and the cost model anew (splittrace whatif): the devices and their memories, each
// kernel's summary, and for each launch its NDRange, the scalars that decide about regions, and its
// buffers. Of what buffers hold there is nothing.
//
// Events are handed to a thread that formats and writes them, a few times a second; at most
// `maxPending` wait for it, and what comes on top is dropped and counted. The file is an array
// whose end may be missing: a program that is killed leaves whole lines, which viewers accept.
//
// Devices tell times on clocks of their own; DeviceClock maps them onto the host's. An example: the
// host calls clEnqueueNDRangeKernel at 100 us and is back at 104 us; the command's QUEUED time is
// 7 us on the device's clock. So 7 us there were between 100 and 104 us here, and the device is
// behind by 93 to 97 us. Each command gives such a bound, and they hold together.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/trace/trace_layout.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace libsplit::runtime {

/// Nanoseconds of the host's steady clock.
using HostTime = std::int64_t;
HostTime hostNow();

/// The offset of one device's clock. Not thread-safe.
class DeviceClock {
public:
  /// A command was enqueued between `before` and `after`, and at `queued` by the device's clock.
  void observe(cl_ulong queued, HostTime before, HostTime after);
  bool known() const { return known_; }
  HostTime toHost(cl_ulong device) const;
  /// The error is at most this, unless the clocks drift.
  HostTime uncertainty() const { return (high_ - low_ + 1) / 2; }

private:
  bool known_ = false;
  HostTime low_ = 0, high_ = 0; ///< bounds of host minus device
};

/// What an instruction does, for the trace; hangs on it if tracing is on.
struct TracedWork {
  using Track = TraceLayout::Track;
  Track track = Track::Commands;
  std::string name;
  std::size_t device = 0;
  CompletionPtr done;
  HostTime before = 0, after = 0; ///< around the enqueuing; 0: it never was
  bool overOnReturn = false;      ///< work of the host, over when `after` was
  std::uint64_t bytes = 0;        ///< of a transfer
  std::uint64_t buffer = 0;       ///< … of which buffer; 0: not said
  /// Why they don't count as moved between nodes, if so: "stopover" (in host memory, on the way to
  /// another device), or "home" (the application reads what is on its own device, or writes to it).
  const char* uncounted = nullptr;
  std::uint64_t groupBegin = 0, groupEnd = 0, groups = 0; ///< of a piece; `groups`: the launch's
  unsigned dimension = 0;
  /// What had to be over before it began, whoever's work that is. Only compared.
  std::vector<const Completion*> dependsOn;
  std::uint64_t number = 0; ///< once it is told of
};

/// Bytes of a buffer that a command reads or writes, by the number that the trace has for it.
struct TracedUse {
  std::uint64_t buffer = 0;
  std::uint64_t begin = 0, end = 0;
  bool writes = false;
};

/// How many bytes of a buffer each memory node held once a command was planned.
struct TracedHolding {
  std::uint64_t buffer = 0;
  std::vector<std::uint64_t> bytes; ///< by node
};

/// The application's call that a task stands for.
struct TracedCall {
  std::string name;
  std::string kernel;                  ///< of a launch
  std::string reason;                  ///< why a launch was not split
  std::uint64_t launch = 0;            ///< the description of a launch; 0: there is none
  std::vector<TracedUse> uses;         ///< of other commands
  std::vector<TracedHolding> holdings; ///< of all buffers that it uses
  int thread = 0;
  bool blocking = false;
  HostTime begin = 0, end = 0;
};

class Trace {
public:
  static constexpr std::size_t maxPending = 1 << 17;
  static constexpr int application = TraceLayout::application;
  static constexpr int firstDevice = TraceLayout::firstDevice;

  /// Null, with a line in the log, if the file can't be written. "%p" stands for the process id.
  static std::unique_ptr<Trace> open(const std::string& pattern);
  explicit Trace(int file);
  /// Writes what is pending.
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  struct Argument {
    Argument(std::string key, std::uint64_t number);
    Argument(std::string key, double number);
    Argument(std::string key, const std::string& text);
    Argument(std::string key, std::span<const std::uint64_t> numbers);
    Argument(std::string key, std::span<const std::string> texts);
    Argument(std::string key, std::span<const std::vector<std::uint64_t>> rows);
    std::string name;
    std::string json;
  };
  using Arguments = std::vector<Argument>;

  // All of these may be called from any thread, and return without waiting for the file.
  void nameProcess(int process, const std::string& name);
  void nameThread(int process, int thread, const std::string& name);
  void slice(int process, int thread, std::string name, HostTime begin, HostTime end,
             Arguments arguments = {});
  void instant(int process, int thread, std::string name, HostTime at, Arguments arguments = {});
  /// Something that holds for the whole trace, or from here on.
  void metadata(int process, std::string name, Arguments arguments);
  void counter(int process, std::string name, HostTime at, Arguments values);
  /// From a point within one slice to the beginning of another.
  void arrow(int fromProcess, int fromThread, HostTime from, int toProcess, int toThread,
             HostTime to);

  // Not thread-safe: used under the session's lock.

  /// A thread number on which [begin, end) overlaps nothing: `track` itself, or beside it. Where
  /// the overlap is within the clock's `uncertainty`, `begin` is moved instead.
  int freeThread(int process, TracedWork::Track track, HostTime& begin, HostTime end,
                 HostTime uncertainty);
  DeviceClock& clock(std::size_t device);

  /// Writes what is pending and ends the array. What comes after is ignored.
  void close();

private:
  struct Event {
    char phase;
    int process, thread;
    HostTime at, duration;
    std::uint64_t id;
    std::string name;
    Arguments arguments;
  };
  /// All of them or, where there is no room, none.
  template <class... Events> void add(Events... events);
  void writeLoop();
  bool write(const std::deque<Event>& events);
  bool writeText(std::string_view text);

  const int file_;
  const HostTime origin_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> pending_;
  std::atomic<std::uint64_t> arrows_{0};
  std::uint64_t dropped_ = 0;
  bool closing_ = false;
  bool failed_ = false;                               ///< the file takes no more
  bool started_ = false;                              ///< the writer's: an event stands in the file
  std::map<std::pair<int, int>, HostTime> trackEnds_; ///< by process and thread
  std::map<std::size_t, DeviceClock> clocks_;
  std::thread writer_;
};

} // namespace libsplit::runtime
