#include "tools/trace_summary.h"

#include "runtime/core/text_table.h"
#include "tools/busy_time.h"
#include "tools/median.h"
#include "tools/trace_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>

namespace libsplit::tools {

namespace {

using Json = nlohmann::ordered_json;
using runtime::amountText;
using runtime::durationText;
using runtime::percentText;
using runtime::textTable;

using Track = TraceWork::Track;

double meanOfLastQuarter(const std::vector<double>& values) {
  const std::size_t count = (values.size() + 3) / 4;
  double sum = 0;
  for (std::size_t i = values.size() - count; i < values.size(); ++i)
    sum += values[i];
  return count ? sum / static_cast<double>(count) : 0;
}

class Adder {
public:
  explicit Adder(const TraceContents& contents) : contents_(contents) {}

  TraceSummary add(std::size_t transfers) {
    summary_.program = contents_.program;
    summary_.dropped = contents_.dropped;
    summary_.cutAt = contents_.cutAt;
    for (const std::string& device : contents_.devices)
      summary_.devices.push_back({.name = device});
    addDevices();
    for (const TraceCall& call : contents_.calls)
      addCall(call);
    for (const TraceNative& native : contents_.natives) {
      ++kernelNamed(native.kernel).native;
      ++kernelNamed(native.kernel).reasons[native.reason];
    }
    finishKernels();
    std::sort(summary_.slowest.begin(), summary_.slowest.end(),
              [](const Transfer& a, const Transfer& b) { return a.seconds > b.seconds; });
    if (summary_.slowest.size() > transfers)
      summary_.slowest.resize(transfers);
    return std::move(summary_);
  }

private:
  void addDevices() {
    double begin = 0, end = 0;
    for (const TraceWork& work : contents_.works) {
      if (work.device >= summary_.devices.size())
        throw TraceError("there is work on a device without a name");
      DeviceSummary& device = summary_.devices[work.device];
      const double seconds = (work.end - work.begin) * 1e-6;
      (work.track == Track::Kernels    ? device.kernelSeconds
       : work.track == Track::Commands ? device.otherSeconds
                                       : device.transferSeconds) += seconds;
      begin = &work == contents_.works.data() ? work.begin : std::min(begin, work.begin);
      end = std::max(end, work.end);
    }
    summary_.seconds = (end - begin) * 1e-6;
    for (std::size_t i = 0; i < summary_.devices.size(); ++i)
      summary_.devices[i].idle = summary_.seconds > 0 ? 1 - busySeconds(i) / summary_.seconds : 0;
  }

  /// With overlaps counted once.
  double busySeconds(std::size_t device) const {
    std::vector<std::pair<double, double>> spans;
    for (const TraceWork& work : contents_.works)
      if (work.device == device)
        spans.emplace_back(work.begin, work.end);
    std::sort(spans.begin(), spans.end());
    double busy = 0, until = 0;
    for (const auto& [begin, end] : spans) {
      busy += std::max(0.0, end - std::max(begin, until));
      until = std::max(until, end);
    }
    return busy * 1e-6;
  }

  KernelSummary& kernelNamed(const std::string& name) {
    auto [found, isNew] = kernels_.try_emplace(name);
    if (isNew) {
      found->second.name = name;
      for (const std::string& device : contents_.devices)
        found->second.parts.push_back({.device = labelOf(device)});
    }
    return found->second;
  }

  void addCall(const TraceCall& call) {
    KernelSummary* kernel = call.kernel.empty() ? nullptr : &kernelNamed(call.kernel);
    const std::string& cause = kernel ? call.kernel : call.name;
    double begin = 0, end = 0;
    bool isUnsplit = false;
    std::string reason;
    std::vector<double> groups(contents_.devices.size());
    std::vector<BusyTime> busy(contents_.devices.size()); // in microseconds
    double all = 0;
    for (const std::size_t index : call.works) {
      const TraceWork& work = contents_.works[index];
      begin = index == call.works.front() ? work.begin : std::min(begin, work.begin);
      end = std::max(end, work.end);
      if (work.arguments.contains("bytes")) {
        addTransfer(work, cause, kernel);
      } else if (work.arguments.contains("groups") && kernel) {
        DevicePart& part = kernel->parts[work.device];
        ++part.pieces;
        busy[work.device].add(work.begin, work.end);
        part.startSeconds += work.idleBefore * 1e-6;
        groups[work.device] += work.arguments.at("groups").get<double>();
        all = work.arguments.at("all_groups").get<double>();
        reason = work.arguments.value("unsplit", reason);
      } else if (work.arguments.contains("unsplit") && kernel) {
        isUnsplit = true;
        reason = work.arguments.at("unsplit");
      }
    }
    if (!kernel)
      return;
    for (std::size_t i = 0; i < busy.size(); ++i)
      kernel->parts[i].seconds += busy[i].length() * 1e-6;
    bool isSplit = false;
    for (std::size_t i = 0; i < groups.size(); ++i)
      isSplit = isSplit || (groups[i] > 0 && !contents_.devices[i].ends_with(", home"));
    kernel->split += isSplit;
    kernel->unsplit += !isSplit && (isUnsplit || all > 0);
    if (!isSplit && !reason.empty())
      ++kernel->reasons[reason];
    // At a kernel's first launch drivers compile: what that took says nothing of the others.
    if (all > 0 && (isSplit || kernel->launches() > 1))
      (isSplit ? splitTimes_ : homeTimes_)[{call.kernel, all}].push_back((end - begin) * 1e-6);
    if (!isSplit)
      return;
    seconds_[call.kernel].push_back((end - begin) * 1e-6);
    allGroups_[call.kernel] += all;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      kernel->parts[i].share += groups[i];
      kernel->parts[i].lastShare = groups[i] / all;
    }
  }

  void addTransfer(const TraceWork& work, const std::string& cause, KernelSummary* kernel) {
    const std::uint64_t bytes = work.arguments.at("bytes");
    const double seconds = (work.end - work.begin) * 1e-6;
    const bool in = work.track == Track::TransfersIn;
    if (!work.arguments.contains("stopover") && !work.arguments.contains("home"))
      summary_.bytesBetweenNodes += bytes;
    summary_.slowest.push_back(
        {labelOf(contents_.devices[work.device]), in, bytes, seconds, cause});
    if (!kernel)
      return;
    DevicePart& part = kernel->parts[work.device];
    part.transferSeconds += seconds;
    (in ? part.bytesIn : part.bytesOut) += bytes;
  }

  void finishKernels() {
    for (auto& [name, kernel] : kernels_) {
      kernel.medianSeconds = median(seconds_[name]);
      compare(kernel);
      auto main =
          std::max_element(kernel.reasons.begin(), kernel.reasons.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      kernel.reason = main == kernel.reasons.end() ? std::string() : main->first;
      auto idle = contents_.idle.find(name);
      kernel.idle = idle == contents_.idle.end() ? 0 : meanOfLastQuarter(idle->second);
      for (DevicePart& part : kernel.parts)
        part.share = kernel.split > 0 ? part.share / allGroups_[name] : 0;
      summary_.kernels.push_back(std::move(kernel));
    }
    std::stable_sort(summary_.kernels.begin(), summary_.kernels.end(),
                     [](const KernelSummary& a, const KernelSummary& b) {
                       return a.medianSeconds * static_cast<double>(a.split) >
                              b.medianSeconds * static_cast<double>(b.split);
                     });
  }

  void compare(KernelSummary& kernel) const {
    std::vector<double> home;
    for (const auto& [key, times] : homeTimes_) {
      if (key.first != kernel.name)
        continue;
      home.insert(home.end(), times.begin(), times.end());
      const auto split = splitTimes_.find(key);
      if (split == splitTimes_.end())
        continue;
      kernel.compared += split->second.size();
      kernel.comparedHomeSeconds += median(times) * static_cast<double>(split->second.size());
      for (const double seconds : split->second)
        kernel.comparedSplitSeconds += seconds;
    }
    kernel.homeSeconds = median(home);
  }

  const TraceContents& contents_;
  TraceSummary summary_;
  std::map<std::string, KernelSummary> kernels_;
  std::map<std::string, std::vector<double>> seconds_; ///< of its split launches
  std::map<std::string, double> allGroups_;
  /// Of launches by kernel and work-groups, split and at home alone.
  std::map<std::pair<std::string, double>, std::vector<double>> splitTimes_, homeTimes_;
};

/// Why the runtime left a launch alone that came before the kernel's analysis did.
constexpr std::string_view notAnalysedYet = "its analysis is not ready yet";

/// What the figures suggest, the plainest first. Thresholds are where an effect is worth a look.
std::vector<std::string> advise(const TraceSummary& summary) {
  constexpr double muchIdle = 0.1, muchMoving = 0.3, shortLaunch = 300e-6, lateStart = 20e-3;
  std::vector<std::string> advice;
  if (summary.dropped > 0)
    advice.push_back("The trace lacks " + std::to_string(summary.dropped) +
                     " events: trace a shorter run, or write to a faster disk.");
  if (summary.cutAt)
    advice.push_back("The trace ends in the middle of an event, at byte " +
                     std::to_string(*summary.cutAt) + ": the program was killed.");
  for (const KernelSummary& kernel : summary.kernels) {
    if (kernel.split == 0) {
      if (!kernel.reason.empty())
        advice.push_back(kernel.name + " was never split: " + kernel.reason +
                         (kernel.reason == notAnalysedYet
                              ? ". Run the program again, since the analysis is kept, or set "
                                "LIBSPLIT_WAIT_ANALYSIS=1."
                              : ". `splitc` on its source says more."));
      continue;
    }
    if (kernel.native + kernel.unsplit > kernel.split)
      advice.push_back(kernel.name + " was split in " + std::to_string(kernel.split) + " of " +
                       std::to_string(kernel.launches()) + " launches: " + kernel.reason + ".");
    if (kernel.medianSeconds < shortLaunch)
      advice.push_back("A launch of " + kernel.name + " takes " +
                       durationText(kernel.medianSeconds) +
                       ", which is short for a split: do more in each.");
    if (kernel.idle > muchIdle)
      advice.push_back(
          "Devices wait for the slowest during " + percentText(kernel.idle) + " of " + kernel.name +
          ": let it run for more launches, or compare LIBSPLIT_POLICY=profile, dynamic.");
    for (const DevicePart& part : kernel.parts) {
      if (part.startSeconds > std::max(lateStart, muchMoving * part.seconds))
        advice.push_back(part.device + " did nothing for " + durationText(part.startSeconds) +
                         " between being given pieces of " + kernel.name +
                         " and starting them: its driver may compile for each new size; giving a "
                         "local size in the launch can help.");
      if (part.pieces > 0 && part.transferSeconds > muchMoving * part.seconds)
        advice.push_back(kernel.name + " moves bytes on " + part.device + " for " +
                         durationText(part.transferSeconds) + " to compute for " +
                         durationText(part.seconds) +
                         ": keep its buffers untouched by the host between launches, or leave " +
                         part.device + " out (LIBSPLIT_DEVICES).");
    }
  }
  return advice;
}

} // namespace

TraceSummary summarize(const TraceContents& contents, std::size_t transfers) {
  try {
    TraceSummary summary = Adder(contents).add(transfers);
    summary.advice = advise(summary);
    return summary;
  } catch (const Json::exception& error) {
    throw TraceError(std::string("an event is damaged: ") + error.what());
  }
}

std::string toText(const TraceSummary& summary) {
  std::ostringstream text;
  text << summary.program << ": " << durationText(summary.seconds) << " on "
       << summary.devices.size() << " devices, " << amountText(summary.bytesBetweenNodes)
       << " between memories\n\n";

  std::vector<std::vector<std::string>> rows = {
      {"kernel", "split", "at home", "native", "a launch", "idle"}};
  for (const KernelSummary& kernel : summary.kernels)
    rows.push_back({kernel.name, std::to_string(kernel.split), std::to_string(kernel.unsplit),
                    std::to_string(kernel.native),
                    kernel.split ? durationText(kernel.medianSeconds) : "-",
                    kernel.split ? percentText(kernel.idle) : "-"});
  text << textTable(rows) << "\n";

  rows = {
      {"kernel on device", "share", "last", "pieces", "computes", "moves", "starts", "in", "out"}};
  for (const KernelSummary& kernel : summary.kernels)
    for (const DevicePart& part : kernel.parts)
      if (part.pieces > 0 || part.bytesIn + part.bytesOut > 0)
        rows.push_back({kernel.name + " on " + part.device, percentText(part.share),
                        percentText(part.lastShare), std::to_string(part.pieces),
                        durationText(part.seconds), durationText(part.transferSeconds),
                        durationText(part.startSeconds), amountText(part.bytesIn),
                        amountText(part.bytesOut)});
  if (rows.size() > 1)
    text << textTable(rows) << "\n";

  rows = {{"device", "computes", "moves", "other", "idle"}};
  for (const DeviceSummary& device : summary.devices)
    rows.push_back({device.name, durationText(device.kernelSeconds),
                    durationText(device.transferSeconds), durationText(device.otherSeconds),
                    percentText(device.idle)});
  text << textTable(rows);

  if (!summary.slowest.empty()) {
    rows = {{"slowest transfers", "took", "bytes", "GB/s"}};
    for (const Transfer& each : summary.slowest) {
      char rate[32];
      std::snprintf(rate, sizeof rate, "%.2f",
                    each.seconds > 0 ? static_cast<double>(each.bytes) / each.seconds * 1e-9 : 0.0);
      rows.push_back({(each.toDevice ? "to " : "from ") + each.device + " for " + each.cause,
                      durationText(each.seconds), amountText(each.bytes), rate});
    }
    text << "\n" << textTable(rows);
  }
  for (const std::string& each : summary.advice)
    text << (&each == summary.advice.data() ? "\n" : "") << "* " << each << "\n";
  return text.str();
}

Json toJson(const TraceSummary& summary) {
  Json kernels = Json::array(), devices = Json::array(), slowest = Json::array();
  for (const KernelSummary& kernel : summary.kernels) {
    Json parts = Json::array();
    for (const DevicePart& part : kernel.parts)
      parts.push_back({{"device", part.device},
                       {"pieces", part.pieces},
                       {"share", part.share},
                       {"last_share", part.lastShare},
                       {"seconds", part.seconds},
                       {"transfer_seconds", part.transferSeconds},
                       {"start_seconds", part.startSeconds},
                       {"bytes_in", part.bytesIn},
                       {"bytes_out", part.bytesOut}});
    kernels.push_back({{"name", kernel.name},
                       {"launches", kernel.launches()},
                       {"split", kernel.split},
                       {"unsplit", kernel.unsplit},
                       {"native", kernel.native},
                       {"reason", kernel.reason},
                       {"reasons", kernel.reasons},
                       {"median_seconds", kernel.medianSeconds},
                       {"home_seconds", kernel.homeSeconds},
                       {"gain", kernel.gain() > 0 ? Json(kernel.gain()) : Json(nullptr)},
                       {"idle", kernel.idle},
                       {"devices", parts}});
  }
  for (const DeviceSummary& device : summary.devices)
    devices.push_back({{"name", device.name},
                       {"kernel_seconds", device.kernelSeconds},
                       {"transfer_seconds", device.transferSeconds},
                       {"other_seconds", device.otherSeconds},
                       {"idle", device.idle}});
  for (const Transfer& each : summary.slowest)
    slowest.push_back({{"device", each.device},
                       {"direction", each.toDevice ? "in" : "out"},
                       {"bytes", each.bytes},
                       {"seconds", each.seconds},
                       {"cause", each.cause}});
  return {{"program", summary.program},
          {"seconds", summary.seconds},
          {"bytes_between_nodes", summary.bytesBetweenNodes},
          {"dropped", summary.dropped},
          {"kernels", kernels},
          {"devices", devices},
          {"slowest_transfers", slowest},
          {"advice", summary.advice}};
}

} // namespace libsplit::tools
