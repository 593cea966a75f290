// The report of a kernel, for people: what it reads and writes in the terms of its source, which
// rung of the ladder it will get and in which dimension, and why no better one. The rung is the
// answer of the runtime's own planner, asked about two devices with separate memories and a launch
// that somebody has in mind.
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

std::string explain(const KernelSummary& kernel, const ImaginedLaunch& launch);

} // namespace libsplit
