// The text of LIBSPLIT_DEVICES, parsed. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace libsplit::runtime {

struct DeviceSpec {
  enum class Kind { All, Gpus, Cpus, List };
  struct Item {
    unsigned platform = 0;              ///< position in clGetPlatformIDs
    unsigned device = 0;                ///< position in clGetDeviceIDs(CL_DEVICE_TYPE_ALL)
    std::vector<unsigned> computeUnits; ///< sub-devices by counts; empty: the whole device
  };
  Kind kind = Kind::All;
  std::vector<Item> items; ///< of List
};

/// "all", "gpu", "cpu" or a comma-separated list of P.D or P.D/A+B+C; nothing if it is none of
/// these.
std::optional<DeviceSpec> parseDeviceSpec(const std::string& text);

} // namespace libsplit::runtime
