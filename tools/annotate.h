// A program's source with what the analysis knows of it written below each line:
//
//     3 |   a[i] = x[i] + y;
//       |   reads x bytes [4*i, +4)
//       |   writes a bytes [4*i, +4), if i < n
//
// Lines of which nothing is said, and which are not near any of which something is, are left out.
#pragma once

#include "tools/explain.h"

#include <functional>
#include <optional>
#include <string>

namespace libsplit {

/// The contents of a file that the program includes; nothing if it can't be read.
using ReadSource = std::function<std::optional<std::string>(const std::string& path)>;

/// One kernel of the program with the text `source`. `inColour`: with the escapes of terminals.
std::string annotate(const KernelSummary& kernel, const std::string& source,
                     const ReadSource& readSource, const ImaginedLaunch& launch, bool inColour);

} // namespace libsplit
