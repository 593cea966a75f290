// The options string of clBuildProgram, as far as it changes what a program means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace libsplit {

struct BuildOptions {
  std::vector<std::string> defines;      ///< "NAME" or "NAME=VALUE"
  std::vector<std::string> includePaths; ///< in order
  std::string standard;                  ///< "CL1.2", ...; empty if not given
  std::vector<std::string> floatFlags;   ///< options that define macros, e.g. -cl-fast-relaxed-math
};

/// Splits at blanks; quotes group, a backslash takes a quote, a blank or a backslash literally.
std::vector<std::string> splitOptions(std::string_view text);

/// Options that don't matter for the analysis (warnings, optimisation, vendors' own) are skipped.
BuildOptions parseBuildOptions(const std::vector<std::string>& options);

} // namespace libsplit
