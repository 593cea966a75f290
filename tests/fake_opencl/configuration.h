// Which platforms and devices the fake OpenCL has, how its clock runs, and what goes wrong when.
//
// JSON, all keys optional:
//
//   {"platforms": [{"name": "Fake", "devices": [
//      {"type": "gpu", "name": "big", "memory": 1073741824, "units": 16, "max_group": 1024,
//       "largest": 536870912, "takes_larger": false, "local_memory": 65536, "launch_us": 5,
//       "item_ns": 1, "transfer_us": 10, "gb_per_s": 10, "in_caller": false, "timing_us": 0,
//       "dense_rects": false, "local_sizes": {"driver's": 1, "64x4x1": 0.5},
//       "most_queues": 0, "options": "-D__x86_64__=1"}]}],
//    "seed": 1, "clock": "virtual", "strict_flush": true, "shuffle": true, "goes_on": false,
//    "callback_thread": true, "locks_events": false, "callbacks_ms": 0, "kernels_ms": 0,
//    "cache": "/tmp/x",
//    "report": "calls.json", "slow_calls": {"clEnqueueFillBuffer": 2000},
//    "script": [{"fail_call": {"device": "0.1", "number": 37, "error": -5}},
//               {"fail_command": {"device": "0.1", "number": 3, "error": -5}},
//               {"lose": {"device": "0.1", "number": 3}},
//               {"hold": {"device": "0.0", "number": 2, "others": 4}}]}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace libsplit::fake {

struct DeviceConfiguration {
  std::string name = "fake";
  bool isGpu = true; ///< false: a CPU, whose buffers lie in host memory where maps show them
  std::uint64_t memory = std::uint64_t{1} << 30; ///< bytes
  std::uint64_t largest = 0;                     ///< bytes that one buffer may have; 0: half of all
  bool takesLarger = false; ///< it promises less than it keeps: one may have all
  unsigned units = 4;
  std::size_t maxGroup = 1024;
  std::uint64_t localMemory = 65536; ///< bytes of a work-group
  double launchSeconds = 5e-6;       ///< of any kernel
  double itemSeconds = 1e-9;         ///< of one work-item
  double transferSeconds = 1e-5;     ///< of any transfer
  double bytesPerSecond = 1e10;
  /// How many times as long work-items take in work-groups of some sizes, "*" of all others.
  std::map<std::string, double> localSizes{};
  double timingSeconds = 0; ///< that a call takes longer which enqueues on a profiled queue
  bool inCaller = false;    ///< commands run inside the call that enqueues them
  unsigned mostQueues = 0;  ///< that it gives out, in all; 0: any number
  std::string options{};    ///< what its compiler takes as given beside a program's own
  /// A fault: rect commands take the host's rows to lie one behind the other, whatever their pitch.
  bool denseRects = false;

  std::uint64_t promised() const { return largest ? largest : memory / 2; }
  std::uint64_t taken() const { return takesLarger ? memory : promised(); }
  /// Those that tell by it that they have a thread of their own; it would be the wrong one where
  /// commands seem to run in the caller.
  bool runsNativeKernels() const { return !isGpu && !inCaller; }
};

struct PlatformConfiguration {
  std::string name = "Fake";
  std::vector<DeviceConfiguration> devices;
};

/// Something that goes wrong. `device` counts over all platforms; numbers count from 1.
struct Mishap {
  enum class Kind {
    FailCall,    ///< the `number`-th call that concerns the device answers `error`
    FailCommand, ///< the `number`-th command of the device ends with `error`, half done
    Lose,        ///< from its `number`-th command on nothing works any more on the device
    Hold,        ///< the `number`-th command waits until `others` more have ended elsewhere
  };
  Kind kind = Kind::FailCall;
  unsigned device = 0;
  std::uint64_t number = 0;
  int error = 0;
  std::uint64_t others = 0;
};

struct Configuration {
  std::vector<PlatformConfiguration> platforms;
  std::uint64_t seed = 1;
  bool realClock = false; ///< commands take the time that the clock says, not only claim to
  /// Commands begin only once their queue was flushed, as the specification allows.
  bool strictFlush = true;
  /// Of commands that may begin, any does; else the one that was enqueued first.
  bool shuffle = true;
  /// A queue goes on after a command that failed; else all that comes behind it fails as well.
  bool goesOn = false;
  /// The program's callbacks run on a thread of their own; else on the only one that runs commands,
  /// and all waits until they return.
  bool callbackThread = true;
  /// While it calls back for a command that is not over, who asks for its event waits.
  bool locksEvents = false;
  /// That thread looks so rarely whether there is anything to call, in real time.
  double callbackSeconds = 0;
  /// The driver holds kernels that were launched for so long, in real time, after all else let go
  /// of them; meanwhile their programs can't be built.
  double kernelSeconds = 0;
  std::string cache;  ///< folder of compiled programs
  std::string report; ///< file that is written at exit; see driver.h
  /// By name: calls take so many microseconds before they do anything. No clock counts these.
  std::map<std::string, unsigned> slowCalls;
  std::vector<Mishap> script;
};

/// `text`: JSON, or the name of a file that holds it. Throws std::exception where it is neither.
Configuration parseConfiguration(const std::string& text);

} // namespace libsplit::fake
