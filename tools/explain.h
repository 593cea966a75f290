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
  /// By parameter name, or by position as in "3": values of numbers, sizes of buffers in bytes. Not
  /// given: the global size of dimension 0, and large.
  std::map<std::string, std::int64_t> arguments;
};

/// "1024x1024/16x16": global and local sizes. Nothing if it is no such text.
std::optional<NDRange> parseRange(const std::string& text);

/// The whole report.
std::string explain(const KernelSummary& kernel, const ImaginedLaunch& launch);

// Its parts, for who puts them together in another way. Each is made of whole lines.

/// "kernel saxpy(float a, float* x)", and the work-group size if it requires one.
std::string explainHead(const KernelSummary& kernel);
/// How it will be split, and what that takes or why not; without obstacles and accesses.
std::string explainOutcome(const KernelSummary& kernel, const ImaginedLaunch& launch);

/// An access in words, such as "writes", "a" and "bytes [4*i, +4), if i < n".
struct AccessWords {
  std::string verb, parameter, region;
};
AccessWords inWords(const KernelSummary& kernel, const Access& access);
/// "where i = get_global_id(0)" for the variables that all accesses are told in; or empty.
std::string variablesInWords(const KernelSummary& kernel);

} // namespace libsplit
