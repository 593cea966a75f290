// A trace of libsplit, of any version, read back: its events put together to calls, and to the work
// that they caused.
#pragma once

#include "analysis-pass/summary/ndrange.h"
#include "runtime/trace/trace_layout.h"
#include "tools/trace_decoder.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::tools {

// All times are in microseconds since the trace began.

/// What a device did, or libsplit on its behalf.
struct TraceWork {
  using Track = runtime::TraceLayout::Track;
  std::size_t device = 0;
  Track track = Track::Kernels;
  std::string name;
  double begin = 0, end = 0;
  nlohmann::ordered_json arguments;
  int thread = 0;        ///< one of those of its track: work on one of them does not overlap
  double idleBefore = 0; ///< the device's idle time between the enqueuing and the begin
};

/// Bytes [begin, end) of a buffer that a command reads or writes.
struct TraceUse {
  std::uint64_t buffer = 0;
  std::uint64_t begin = 0, end = 0;
  bool writes = false;
};

/// A call of the application's.
struct TraceCall {
  std::string name;
  std::string kernel;             ///< of a launch
  std::vector<std::size_t> works; ///< what it caused: indices
  int thread = 0;
  double begin = 0, end = 0;
  std::uint64_t launch = 0;   ///< which of `TraceContents::launches` it is; 0: not told
  std::vector<TraceUse> uses; ///< of other commands, as far as libsplit kept book
};

/// A launch that went to the driver as it came.
struct TraceNative {
  std::string kernel, reason;
  double at = 0;
};

/// The shares of one launch, by the label of the device.
struct TraceShares {
  std::string kernel;
  double at = 0;
  std::vector<std::pair<std::string, double>> shares;
  double idle = 0; ///< the part of the devices' time that is lost by waiting for the slowest
};

// What traces tell since version 2 beside what happened.

/// A device as libsplit knew it.
struct TraceDevice {
  std::string label;
  unsigned node = 0; ///< its memory
  bool isGpu = false, isHome = false, participates = true;
  unsigned computeUnits = 0, megahertz = 0;
};

/// A kernel: what the analysis says of it, in its text form, by device. Empty: can't run there.
struct TraceKernel {
  std::string name;
  std::vector<std::string> summaries;
};

/// A launch: what libsplit planned it by. Launches that are alike share one.
struct TraceLaunch {
  struct Buffer {
    unsigned parameter = 0;
    std::uint64_t buffer = 0;
    std::uint64_t origin = 0, size = 0; ///< bytes of the buffer that the argument is
  };
  std::uint64_t code = 0;
  std::string range, classes; ///< its key: "64x64/8x8", and the classes of its scalars
  NDRange ndrange;
  std::vector<std::vector<std::byte>> values; ///< by parameter; empty where it decides nothing
  std::vector<Buffer> buffers;
};

/// A command of the program's that libsplit made no task of.
struct TraceNativeWrite {
  double at = 0;
  std::vector<TraceUse> uses;
};

/// Bytes of a buffer that are valid in each memory from then on.
struct TraceHolding {
  std::uint64_t buffer = 0;
  double at = 0;
  std::vector<std::pair<std::string, std::uint64_t>> bytes; ///< by "host", or a device's label
};

struct TraceContents {
  int version = 1;
  std::string program;
  std::vector<std::string> devices;
  std::vector<TraceCall> calls;
  std::vector<TraceWork> works;
  std::map<std::string, std::vector<double>> idle; ///< by kernel
  std::vector<TraceNative> natives;
  std::vector<TraceShares> shares;
  double minLaunchSeconds = 300e-6;
  std::vector<TraceDevice> known; ///< by device; empty in version 1
  std::map<std::uint64_t, TraceKernel> kernels;
  std::map<std::uint64_t, TraceLaunch> launches;
  std::map<std::uint64_t, std::uint64_t> buffers; ///< bytes
  std::vector<TraceNativeWrite> nativeWrites;
  std::vector<TraceHolding> holdings;
  std::uint64_t dropped = 0;
  /// Where the file ends in the middle of an event, since the process was killed.
  std::optional<std::uint64_t> cutAt;
};

/// "0.1" of "0.1 a device, home", as `TraceContents::devices` has them.
inline std::string labelOf(const std::string& device) {
  return device.substr(0, device.find(' '));
}

/// Reads a trace, also one whose end is missing. Throws TraceError.
TraceContents readTrace(std::istream& trace);

} // namespace libsplit::tools
