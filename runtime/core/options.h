// The options: one table (options.def), one parser. Nothing else looks at LIBSPLIT_* variables.
#pragma once

#include "runtime/core/log.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libsplit::runtime {

/// How the shares of a launch are found.
struct Policy {
  enum class Kind { Auto, FixedPoint, Broyden, BroydenBad, Profile, Dynamic, Static, Single, Off };
  Kind kind = Kind::Auto;
  std::vector<double> shares; ///< of Static, normalised to sum 1
  unsigned device = 0;        ///< of Single: position in LIBSPLIT_DEVICES
};
std::optional<Policy> parsePolicy(const std::string& text);

/// Which devices are memory nodes of their own although they could share the host's memory.
enum class SeparateNodes { None, All, AllButLast, Home };

/// Who chooses local sizes that the program leaves open.
enum class LocalSize { Auto, Driver };

struct Options {
  std::string devices = "all";
  Policy policy;
  std::string stats;
  bool summary = false;
  std::string explain; ///< a kernel's name; empty: none
  bool progress = false;
  std::string trace;
  bool verify = false;
  LogLevel log = LogLevel::Warn;
  std::string cacheDir; ///< empty: no place for a cache is known
  bool persist = true;
  bool inspect = true;
  bool relaxedFloat = false;
  SeparateNodes separateNodes = SeparateNodes::None;
  bool waitAnalysis = false;
  bool rebuild = false;
  std::optional<double> minLaunchSeconds; ///< none: measured (cost/split_cost.h)
  std::size_t stagingBytes = std::size_t{24} << 20;
  std::size_t deviceMemory = 0; ///< bytes of copies on each other device; 0: all that it has
  std::uint64_t poolMemory = 0; ///< bytes of the host's that a pool may take; 0: no pool
  LocalSize localSize = LocalSize::Auto;
  std::uint64_t haloDepth = 0; ///< work-groups of each neighbour that a device may run as well
  std::string splitc;
  double analysisTimeoutSeconds = 30;
  /// Not of libsplit's: a variable that is set and from which a driver takes build options, which
  /// then go past every caller of clBuildProgram; empty: there is none.
  std::string hiddenBuildOptions;

  /// Whether somebody wants to know what became of each launch.
  bool wantsStats() const { return !stats.empty() || summary; }
};

/// One row of the table.
struct OptionInfo {
  const char* variable;
  const char* flag; ///< of splitrun; empty if it has none
  const char* values;
  const char* defaultValue;
  const char* help;
  /// Sets the option. False, with the option as it was, if `text` is no value of it.
  bool (*set)(Options& options, const std::string& text);
};
const std::vector<OptionInfo>& optionTable();

/// Reads the options from `environment` ("NAME=value" strings). Each unknown LIBSPLIT_ name and
/// each bad value gives one line in `complaints`, and the default is kept.
Options parseOptions(const std::vector<std::string>& environment,
                     std::vector<std::string>& complaints);

/// The process's own environment.
std::vector<std::string> processEnvironment();

/// A file name as the user gave it, with "%p" replaced by the process id.
std::string withProcessId(std::string pattern);

/// Markdown table rows of all options, for the README and `splitrun --help-markdown`.
std::string optionsAsMarkdown();

} // namespace libsplit::runtime
