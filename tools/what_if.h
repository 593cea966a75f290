// What a traced program would have taken with other devices, other links, or other shares.
//
// The launches of the trace are gone through once more, in their order: each is decided about by
// the runtime's own controller and cycle (runtime/cost), cut by its planner, and what it has to
// move is told by its directories (runtime/plan). Only the devices are missing: in their place
// stands what the trace says launches and copies cost (trace_costs.h). What these would have taken
// is told to the controller, which goes on from there.
//
// Worked example. A trace of two GPUs, each with half of 20 launches: 10 ms on the first, 20 ms on
// the second. Under `static:2,1` the planner cuts at two thirds, the model says 13.3 and 13.3 ms,
// the directory that 1/6 of the data lies elsewhere than it did. Asked for another device like the
// first, the controller of `auto` is made for three, begins as it would begin, and its shares
// settle at 2/5, 1/5 and 2/5.
//
// Not in it: what devices cost each other in one memory where they did not run together, the
// merging of what several memories changed, and regions that depend on what buffers hold. Kernels
// that it concerns are unknown, with that reason.
#pragma once

#include "runtime/core/options.h"
#include "tools/trace_reader.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace libsplit::tools {

struct WhatIf {
  /// Labels of the trace's devices. One that is there twice means another one like it. Empty: as
  /// they were.
  std::vector<std::string> devices;
  /// Nothing: the shares of each launch as they were, if the devices are; else `auto`.
  std::optional<runtime::Policy> policy;
  struct Link {
    double bytesPerSecond = 0;
    std::optional<double> secondsEach; ///< nothing: as it was
  };
  std::map<std::string, Link> links; ///< by label; "" for all others
};

/// "0.1=25" or "25,10": [DEVICE=]GB/s[,microseconds]. Nothing if it is none.
std::optional<std::pair<std::string, WhatIf::Link>> parseLink(const std::string& text);

/// Seconds and bytes as they were and as they would be.
struct WhatIfKernel {
  std::string name;
  std::uint64_t launches = 0;
  std::string unknown; ///< why nothing can be said; the figures that follow are the trace's alone
  double recordedSeconds = 0, seconds = 0;             ///< of all launches
  double recordedLaunchSeconds = 0, launchSeconds = 0; ///< of one of the last quarter, the median
  std::uint64_t recordedBytes = 0, bytes = 0;          ///< moved between memories for launches
  std::vector<double> shares;                          ///< by device, of the last launch
  /// How far the model is off, where it is asked for what was recorded: part of the time.
  double error = 0;
};

struct WhatIfAnswer {
  std::vector<std::string> devices;  ///< labels; of another one like it "0.1'"
  double recordedSeconds = 0;        ///< of the program, from its first event to its last
  std::optional<double> seconds;     ///< nothing: a kernel is unknown
  std::optional<double> error;       ///< as of a kernel, of all that are not unknown
  std::vector<WhatIfKernel> kernels; ///< the most time first
  std::vector<std::string> notes;
};

/// Throws TraceError, also where the question names devices that the trace does not have.
WhatIfAnswer whatIf(const TraceContents& contents, const WhatIf& question);

/// What libsplit gained by the model: all launches on the program's own device alone beside what
/// they took. A sentence or two, also where nothing can be said.
std::string gainByModel(const TraceContents& contents);

std::string toText(const WhatIfAnswer& answer, const std::string& program);
nlohmann::ordered_json toJson(const WhatIfAnswer& answer);

} // namespace libsplit::tools
