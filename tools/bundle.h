// What a report of a bug needs, in one JSON file: versions, devices, options, what became of each
// kernel's launches. Of the program itself it holds names of kernels and of their arguments, where
// reasons tell them, but neither sources nor data nor its command line.
#pragma once

#include "runtime/device/machine.h"

#include <string>
#include <vector>

namespace libsplit::tools {

/// One device of the system, with the versions that its driver tells.
struct BundledDevice {
  std::string label, name, platform, version, driver;
  unsigned computeUnits = 0;
};

struct Bundle {
  std::vector<BundledDevice> devices;
  std::vector<std::string> environment; ///< "NAME=value"; those that steer OpenCL are kept
  std::string ending;                   ///< of the program: "exit status 0", "signal 11"; or empty
  std::string statistics;               ///< what it left as LIBSPLIT_STATS; empty: nothing
};

/// The file's text.
std::string toJson(const Bundle& bundle);

} // namespace libsplit::tools
