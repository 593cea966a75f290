// The options string of clBuildProgram, as far as it changes what a program means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace libsplit {

struct BuildOptions {
  std::vector<std::string> defines;      ///< "NAME" or "NAME=VALUE"
  std::vector<std::string> undefines;    ///< of names that are not among `defines`
  std::vector<std::string> includePaths; ///< in order
  std::string standard;                  ///< "CL1.2", ...; empty if not given
  std::vector<std::string> floatFlags;   ///< options that define macros, e.g. -cl-fast-relaxed-math
  /// The device is to build it as it stands: it may use bytes only to do nothing with them.
  bool isUnoptimised = false;
  /// Neither in the specification nor known to change what a program reads and writes: a vendor's.
  std::vector<std::string> skipped;
  /// The first option that may change what the text means in a way that is not followed.
  std::string unclear;
};

/// Splits at blanks; quotes group, a backslash takes a quote, a blank or a backslash literally.
/// Single quotes stay: some drivers take them for a part of the word.
std::vector<std::string> splitOptions(std::string_view text);

/// Options that can't change which bytes a program accesses (warnings, optimisation, precision) are
/// left out.
BuildOptions parseBuildOptions(const std::vector<std::string>& options);

} // namespace libsplit
