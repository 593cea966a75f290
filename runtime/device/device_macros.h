// What a program's text can ask of the device that it is compiled for.
#pragma once

#include "runtime/core/opencl.h"

#include <string>
#include <vector>

namespace libsplit::runtime {

/// What the program's compiler would know about the device, as splitc's arguments.
struct DeviceMacros {
  std::string version; ///< CL_DEVICE_OPENCL_C_VERSION
  /// What its compiler takes for granted where a program names no version; empty: as specified.
  std::string defaultVersion;
  std::string extensions;             ///< CL_DEVICE_EXTENSIONS
  std::vector<std::string> defines;   ///< NAME=VALUE, set by this vendor
  std::vector<std::string> undefines; ///< names that its compiler is known not to set
  bool operator==(const DeviceMacros&) const = default;
};

/// Those of `device`, as far as its driver tells.
DeviceMacros deviceMacros(const Dispatch& cl, cl_device_id device);

} // namespace libsplit::runtime
