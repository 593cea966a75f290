#include "tools/bundle.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string_view>

#include <sys/utsname.h>

namespace libsplit::tools {

namespace {

using Json = nlohmann::ordered_json;

/// PRETTY_NAME of os-release(5).
std::string distribution() {
  std::ifstream file("/etc/os-release");
  constexpr std::string_view key = "PRETTY_NAME=\"";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key) && line.ends_with('"'))
      return line.substr(key.size(), line.size() - key.size() - 1);
  return {};
}

bool steersOpencl(const std::string& entry) {
  static constexpr std::string_view prefixes[] = {
      "LIBSPLIT_", "LD_PRELOAD=", "OPENCL_LAYERS=", "OCL_ICD_", "POCL_",
      "CUDA_",     "AMD_OCL_",    "GPU_",           "ROCR_",    "RUSTICL_"};
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return entry.starts_with(prefix); });
}

} // namespace

std::string toJson(const Bundle& bundle) {
  utsname system{};
  ::uname(&system);
  Json devices = Json::array();
  for (const BundledDevice& device : bundle.devices)
    devices.push_back({{"label", device.label},
                       {"name", device.name},
                       {"platform", device.platform},
                       {"version", device.version},
                       {"driver", device.driver},
                       {"compute_units", device.computeUnits}});
  Json variables = Json::object();
  for (const std::string& entry : bundle.environment)
    if (steersOpencl(entry)) {
      const std::size_t equals = entry.find('=');
      variables[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
  const Json statistics = Json::parse(bundle.statistics, nullptr, false);
  const Json document = {
      {"libsplit", LIBSPLIT_VERSION},
      {"system",
       {{"distribution", distribution()}, {"kernel", system.release}, {"machine", system.machine}}},
      {"devices", devices},
      {"variables", variables},
      {"program", bundle.ending},
      {"statistics", statistics.is_discarded() ? Json(nullptr) : statistics}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace libsplit::tools
