#include "runtime/session/stats.h"

#include "runtime/core/options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>

namespace libsplit::runtime {

using Json = nlohmann::ordered_json;

namespace {

Json devicesJson(const Machine* machine) {
  Json devices = Json::array();
  if (machine)
    for (const Device& device : machine->devices())
      devices.push_back({{"label", device.label},
                         {"name", device.name},
                         {"home", device.isHome},
                         {"participates", device.participates},
                         {"node", device.node},
                         {"compute_units", device.computeUnits}});
  return devices;
}

Json orNull(double seconds) {
  return seconds >= 0 ? Json(seconds) : Json(nullptr);
}

using Reasons = std::map<std::string, std::uint64_t>;

/// Why most of the launches were not split; empty if all were.
std::string mainReason(const Reasons& reasons) {
  auto most = std::max_element(reasons.begin(), reasons.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == reasons.end() ? std::string() : most->first;
}

Json kernelJson(const KernelStats& kernel) {
  Json ranges = Json::array();
  std::vector<double> lastShares, lastSeconds;
  Reasons reasons;
  std::uint64_t told = kernel.splitLaunches;
  for (const auto& [range, stats] : kernel.ranges)
    for (const auto& [reason, launches] : stats.reasons) {
      reasons[reason] += launches;
      told += launches;
    }
  if (told < kernel.launches)
    reasons["it was not over when the program ended"] += kernel.launches - told;
  for (const auto& [range, stats] : kernel.ranges) {
    ranges.push_back({{"ndrange", range},
                      {"launches", stats.launches},
                      {"split_launches", stats.splitLaunches},
                      {"reasons", stats.reasons},
                      {"dimension", stats.dimension},
                      {"last_shares", stats.lastShares},
                      {"seconds", stats.lastSeconds},
                      {"home_seconds", orNull(stats.homeSeconds)},
                      {"wall_seconds", orNull(stats.wallSeconds)}});
    if (!stats.lastShares.empty()) {
      lastShares = stats.lastShares;
      lastSeconds = stats.lastSeconds;
    }
  }
  return {{"name", kernel.name},
          {"launches", kernel.launches},
          {"split_launches", kernel.splitLaunches},
          {"rung", kernel.rung >= 0 ? Json(kernel.rung) : Json(nullptr)},
          {"reason", mainReason(reasons)},
          {"reasons", reasons},
          {"last_shares", lastShares},
          {"seconds", lastSeconds},
          {"ndranges", ranges}};
}

} // namespace

std::string toJson(const Stats& stats, const Machine* machine) {
  Json kernels = Json::array();
  std::uint64_t launches = 0, splitLaunches = 0;
  for (const auto& kernel : stats.kernels) {
    if (kernel->launches == 0)
      continue;
    kernels.push_back(kernelJson(*kernel));
    launches += kernel->launches;
    splitLaunches += kernel->splitLaunches;
  }
  Json document = {{"version", 1},
                   {"devices", devicesJson(machine)},
                   {"kernels", kernels},
                   {"totals",
                    {{"launches", launches},
                     {"split_launches", splitLaunches},
                     {"bytes_between_nodes", stats.bytesBetweenNodes},
                     {"bytes_merged", stats.bytesMerged},
                     {"transfers", stats.transfers},
                     {"contents_fetched", stats.contentsFetched},
                     {"contents_on_device", stats.contentsOnDevice},
                     {"inspections", stats.inspections},
                     {"verified_launches", stats.verifiedLaunches},
                     {"differing_launches", stats.differingLaunches}}},
                   {"stepped_aside", stats.steppedAside}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool writeStatsFile(const std::string& pattern, const std::string& json) {
  std::ofstream file(withProcessId(pattern));
  file << json;
  file.close();
  return !file.fail();
}

} // namespace libsplit::runtime
