// Which rung of the ladder a kernel will get, and in which dimension, on a launch that somebody has
// in mind: the runtime's own planner, asked about two devices with separate memories.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"
#include "analysis-pass/summary/ndrange.h"

#include <map>
#include <optional>
#include <string>

namespace libsplit {

struct ImaginedLaunch {
  std::optional<NDRange> range; ///< not given: one with the dimensions that the kernel asks about
  /// By parameter name: values of numbers, sizes of buffers in bytes. Not given: the global size of
  /// dimension 0, and large.
  std::map<std::string, std::int64_t> arguments;
};

/// "1024x1024/16x16": global and local sizes. Nothing if it is no such text.
std::optional<NDRange> parseRange(const std::string& text);

/// One line for the report of `kernel`.
std::string explainSplit(const KernelSummary& kernel, const ImaginedLaunch& launch);

} // namespace libsplit
