// A trace of libsplit, read back: the events of runtime/trace put together to calls, and to the
// work that they caused.
#pragma once

#include "runtime/trace/trace_layout.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::tools {

/// The file is no trace of libsplit, or a damaged one; the text names the byte.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

/// A call of the application's.
struct TraceCall {
  std::string name;
  std::string kernel;             ///< of a launch
  std::vector<std::size_t> works; ///< what it caused: indices
  int thread = 0;
  double begin = 0, end = 0;
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

struct TraceContents {
  std::string program;
  std::vector<std::string> devices;
  std::vector<TraceCall> calls;
  std::vector<TraceWork> works;
  std::map<std::string, std::vector<double>> idle; ///< by kernel
  std::vector<TraceNative> natives;
  std::vector<TraceShares> shares;
  std::uint64_t dropped = 0;
  /// Where the file ends in the middle of an event, since the process was killed.
  std::optional<std::uint64_t> cutAt;
};

/// Reads a trace, also one whose end is missing. Throws TraceError.
TraceContents readTrace(std::istream& trace);

} // namespace libsplit::tools
