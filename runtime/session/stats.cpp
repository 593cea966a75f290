#include "runtime/session/stats.h"

#include "runtime/core/options.h"
#include "runtime/core/text_table.h"
#include "runtime/session/preparer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <utility>

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

Json orNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

using Reasons = std::map<std::string, std::uint64_t>;

/// Why most of the launches were not split; empty if all were.
std::string mainReason(const Reasons& reasons) {
  auto most = std::max_element(reasons.begin(), reasons.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == reasons.end() ? std::string() : most->first;
}

/// Why how many launches were not split.
Reasons reasonsOf(const KernelStats& kernel) {
  Reasons reasons;
  std::uint64_t told = kernel.splitLaunches;
  for (const auto& [range, stats] : kernel.ranges)
    for (const auto& [reason, launches] : stats.reasons) {
      reasons[reason] += launches;
      told += launches;
    }
  if (told < kernel.launches)
    reasons["it was not over when the program ended"] += kernel.launches - told;
  return reasons;
}

/// Whether only because of when it was launched.
bool isOfTime(const std::string& reason) {
  return reason == notWorthPreparing || reason == endsBefore || reason == notTimedYet ||
         reason == tooShortToSplit || reason == notBuiltYet || reason == notAnalysedYet;
}

/// The same for people, the most frequent first, and what is the kernel's own before all of time.
std::string reasonLines(const KernelStats& kernel) {
  const Reasons reasons = reasonsOf(kernel);
  std::vector<std::pair<std::string, std::uint64_t>> ordered(reasons.begin(), reasons.end());
  std::ranges::stable_sort(ordered, std::greater{}, [](const auto& each) {
    return std::pair(!isOfTime(each.first), each.second);
  });
  std::string lines;
  for (const auto& [reason, count] : ordered) {
    lines += "  " + kernel.name + ": " + std::to_string(count) + " of " +
             std::to_string(kernel.launches) + " not split: " + reason;
    if (reason == notWorthPreparing && kernel.enoughToPrepare > kernel.tookUnprepared)
      lines += " (" + durationText(kernel.tookUnprepared) + "; " +
               durationText(kernel.enoughToPrepare) + " would do)";
    lines += "\n";
  }
  return lines;
}

/// Whether nobody knows yet whether it could be split.
bool isUnknown(const KernelStats& kernel) {
  return kernel.splitLaunches == 0 &&
         std::ranges::all_of(reasonsOf(kernel), isOfTime, &Reasons::value_type::first);
}

/// Seconds of all split launches, by device: those that were not timed took what the others did.
std::vector<double> secondsByDevice(const KernelStats& kernel) {
  std::vector<double> all;
  for (const auto& [range, stats] : kernel.ranges) {
    all.resize(std::max(all.size(), stats.allSeconds.size()));
    for (std::size_t i = 0; i < stats.allSeconds.size(); ++i)
      all[i] += stats.allSeconds[i] * static_cast<double>(stats.splitLaunches) /
                static_cast<double>(std::max<std::uint64_t>(stats.timedSplits, 1));
  }
  return all;
}

/// How many times as long the split launches would have taken at home, by the last timed there of
/// the same NDRange; negative if none has both.
double gainOf(const KernelStats& kernel) {
  double home = 0, split = 0;
  for (const auto& [range, stats] : kernel.ranges)
    if (stats.usualHomeSeconds > 0 && stats.allWallSeconds > 0) {
      home += stats.usualHomeSeconds * static_cast<double>(stats.timedSplits);
      split += stats.allWallSeconds;
    }
  return split > 0 ? home / split : -1;
}

Json kernelJson(const KernelStats& kernel) {
  Json ranges = Json::array();
  std::vector<double> lastShares, lastSeconds;
  const Reasons reasons = reasonsOf(kernel);
  for (const auto& [range, stats] : kernel.ranges) {
    ranges.push_back({{"ndrange", range},
                      {"launches", stats.launches},
                      {"split_launches", stats.splitLaunches},
                      {"timed_split_launches", stats.timedSplits},
                      {"reasons", stats.reasons},
                      {"dimension", stats.dimension},
                      {"local_size", orNull(stats.wholeShape)},
                      {"local_size_in_parts", orNull(stats.pieceShape)},
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
          {"all_seconds", secondsByDevice(kernel)},
          {"gain", orNull(gainOf(kernel))},
          {"ndranges", ranges}};
}

/// Of the last split launch of any NDRange.
std::vector<double> lastSharesOf(const KernelStats& kernel) {
  std::vector<double> shares;
  for (const auto& [range, stats] : kernel.ranges)
    if (!stats.lastShares.empty())
      shares = stats.lastShares;
  return shares;
}

std::vector<std::string> tableRow(const KernelStats& kernel,
                                  const std::vector<std::size_t>& devices) {
  std::vector<std::string> row = {"  " + kernel.name, std::to_string(kernel.launches),
                                  std::to_string(kernel.splitLaunches)};
  const std::vector<double> shares = lastSharesOf(kernel), seconds = secondsByDevice(kernel);
  for (const std::size_t i : devices) {
    row.push_back(i < shares.size() ? percentText(shares[i]) : "-");
    row.push_back(i < seconds.size() ? durationText(seconds[i]) : "-");
  }
  const double gain = gainOf(kernel);
  char text[32];
  std::snprintf(text, sizeof text, "%.2f x", gain);
  row.emplace_back(gain >= 0 ? text : "-");
  return row;
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

std::string toTable(const Stats& stats, const Machine* machine) {
  std::vector<std::size_t> devices; // that may have had work
  std::vector<std::vector<std::string>> rows = {{"  kernel", "launches", "split"}};
  std::string names;
  for (std::size_t i = 0; machine && i < machine->devices().size(); ++i) {
    const Device& device = machine->devices()[i];
    if (!device.participates && !device.isHome)
      continue;
    devices.push_back(i);
    rows[0].insert(rows[0].end(), {device.label, "took"});
    names += "  " + device.label + " is " + device.name +
             (device.isHome ? ", the program's own device\n" : "\n");
  }
  rows[0].emplace_back("gain");
  std::string reasons, unknown;
  std::uint64_t launches = 0, splitLaunches = 0;
  for (const auto& kernel : stats.kernels) {
    if (kernel->launches == 0)
      continue;
    launches += kernel->launches;
    splitLaunches += kernel->splitLaunches;
    rows.push_back(tableRow(*kernel, devices));
    reasons += reasonLines(*kernel);
    if (unknown.empty() && isUnknown(*kernel))
      unknown = kernel->name;
  }
  std::string text = "libsplit: " + std::to_string(splitLaunches) + " of " +
                     std::to_string(launches) + " launches split, " +
                     amountText(stats.bytesBetweenNodes) + " between memories\n";
  if (launches > 0)
    text += textTable(rows) + names + reasons;
  if (!unknown.empty())
    text +=
        "  splitrun --explain " + unknown + " tells whether longer launches of it could be split\n";
  if (!stats.steppedAside.empty())
    text += "  libsplit stepped aside: " + stats.steppedAside + "\n";
  return text;
}

bool writeStatsFile(const std::string& pattern, const std::string& json) {
  std::ofstream file(withProcessId(pattern));
  file << json;
  file.close();
  return !file.fail();
}

} // namespace libsplit::runtime
