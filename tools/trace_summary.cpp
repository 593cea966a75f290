#include "tools/trace_summary.h"

#include "runtime/core/text_table.h"
#include "runtime/trace/trace_layout.h"

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

using Layout = runtime::TraceLayout;
using Track = Layout::Track;

struct Work {
  std::size_t device = 0;
  Track track = Track::Kernels;
  std::string name;
  double begin = 0, end = 0; // microseconds
  Json arguments;
  double idleBefore = 0; ///< the device's idle time between the enqueuing and the begin
};

struct Call {
  std::string name;
  std::string kernel;
  std::vector<std::size_t> works; // indices
};

/// The trace's events, put together again.
struct Contents {
  std::string program;
  std::vector<std::string> devices;
  std::vector<Call> calls;
  std::vector<Work> works;
  std::map<std::string, std::vector<double>> idle;          ///< by kernel
  std::vector<std::pair<std::string, std::string>> natives; ///< kernel and reason
  std::uint64_t dropped = 0;
};

constexpr std::string_view idlePrefix = "imbalance of ";

class Reader {
public:
  Contents read(std::istream& trace) {
    readLines(trace);
    findIdleStarts();
    return std::move(contents_);
  }

private:
  void readLines(std::istream& trace) {
    std::string line;
    std::size_t number = 0;
    std::optional<std::size_t> bad;
    while (std::getline(trace, line)) {
      ++number;
      // Only the last line may be cut short.
      if (bad)
        throw TraceError("line " + std::to_string(*bad) + " is no event of a trace");
      while (!line.empty() && (line.back() == ',' || line.back() == '\r'))
        line.pop_back();
      if (line.empty() || line == "[" || line == "]")
        continue;
      Json event = Json::parse(line, nullptr, false);
      try {
        if (event.is_discarded())
          bad = number;
        else
          add(event);
      } catch (const Json::exception&) {
        throw TraceError("line " + std::to_string(number) + " is no event of a trace");
      }
    }
    if (number == 0 || (bad && *bad == 1))
      throw TraceError("this is no trace");
  }

  void findIdleStarts() {
    std::vector<Work*> works;
    for (Work& work : contents_.works)
      works.push_back(&work);
    std::sort(works.begin(), works.end(),
              [](const Work* a, const Work* b) { return a->begin < b->begin; });
    std::map<std::size_t, double> ends; // of earlier work, by device
    for (Work* work : works) {
      double& end = ends[work->device];
      const double enqueued = work->begin - work->arguments.value("enqueued_us_before", 0.0);
      work->idleBefore = std::max(0.0, work->begin - std::max(enqueued, end));
      end = std::max(end, work->end);
    }
  }

  using Place = std::tuple<int, int, double>;

  void add(const Json& event) {
    const std::string phase = event.at("ph");
    const int process = event.at("pid");
    const std::string name = event.at("name");
    const Json arguments = event.value("args", Json::object());
    if (phase == "M") {
      if (name == "process_name")
        nameProcess(process, arguments.at("name"));
      return;
    }
    const Place place{process, event.at("tid"), event.at("ts")};
    if (phase == "X" && process == Layout::application) {
      calls_[place] = contents_.calls.size();
      contents_.calls.push_back({name, arguments.value("kernel", ""), {}});
    } else if (phase == "X") {
      works_[place] = contents_.works.size();
      contents_.works.push_back({deviceOf(process), trackOf(std::get<1>(place)), name,
                                 std::get<2>(place),
                                 std::get<2>(place) + event.at("dur").get<double>(), arguments});
    } else if (phase == "s") {
      origins_[event.at("id")] = place;
    } else if (phase == "f") {
      const auto origin = origins_.extract(event.at("id").get<std::uint64_t>());
      if (origin.empty())
        throw TraceError("an arrow has no beginning");
      auto call = calls_.find(origin.mapped());
      auto work = works_.find(place);
      if (call != calls_.end() && work != works_.end())
        contents_.calls[call->second].works.push_back(work->second);
    } else if (phase == "C" && name.starts_with(idlePrefix)) {
      contents_.idle[name.substr(idlePrefix.size())].push_back(arguments.at("idle"));
    } else if (phase == "i" && arguments.contains("native")) {
      contents_.natives.emplace_back(name, arguments.at("native"));
    } else if (phase == "i" && arguments.contains("dropped")) {
      contents_.dropped = arguments.at("dropped");
    }
  }

  static std::size_t deviceOf(int process) {
    if (process < Layout::firstDevice || process > Layout::firstDevice + 4096)
      throw TraceError("there is work on process " + std::to_string(process));
    return static_cast<std::size_t>(process - Layout::firstDevice);
  }

  static Track trackOf(int thread) {
    if (thread < 1)
      throw TraceError("there is work on thread " + std::to_string(thread) + " of a device");
    return Layout::trackOf(thread);
  }

  void nameProcess(int process, const std::string& name) {
    if (process == Layout::application) {
      contents_.program = name;
      return;
    }
    const std::size_t device = deviceOf(process);
    contents_.devices.resize(std::max(contents_.devices.size(), device + 1));
    contents_.devices[device] = name;
  }

  Contents contents_;
  std::map<Place, std::size_t> calls_, works_;
  std::map<std::uint64_t, Place> origins_;
};

/// "0.1" of "0.1 a device, home".
std::string label(const std::string& device) {
  return device.substr(0, device.find(' '));
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double meanOfLastQuarter(const std::vector<double>& values) {
  const std::size_t count = (values.size() + 3) / 4;
  double sum = 0;
  for (std::size_t i = values.size() - count; i < values.size(); ++i)
    sum += values[i];
  return count ? sum / static_cast<double>(count) : 0;
}

class Adder {
public:
  explicit Adder(const Contents& contents) : contents_(contents) {}

  TraceSummary add(std::size_t transfers) {
    summary_.program = contents_.program;
    summary_.dropped = contents_.dropped;
    for (const std::string& device : contents_.devices)
      summary_.devices.push_back({.name = device});
    addDevices();
    for (const Call& call : contents_.calls)
      addCall(call);
    for (const auto& [kernel, reason] : contents_.natives) {
      ++kernelNamed(kernel).native;
      ++kernelNamed(kernel).reasons[reason];
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
    for (const Work& work : contents_.works) {
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
    for (const Work& work : contents_.works)
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
        found->second.parts.push_back({.device = label(device)});
    }
    return found->second;
  }

  void addCall(const Call& call) {
    KernelSummary* kernel = call.kernel.empty() ? nullptr : &kernelNamed(call.kernel);
    const std::string& cause = kernel ? call.kernel : call.name;
    double begin = 0, end = 0;
    bool isUnsplit = false;
    std::string reason;
    std::vector<double> groups(contents_.devices.size());
    double all = 0;
    for (const std::size_t index : call.works) {
      const Work& work = contents_.works[index];
      const double seconds = (work.end - work.begin) * 1e-6;
      begin = index == call.works.front() ? work.begin : std::min(begin, work.begin);
      end = std::max(end, work.end);
      if (work.arguments.contains("bytes")) {
        addTransfer(work, cause, kernel);
      } else if (work.arguments.contains("groups") && kernel) {
        DevicePart& part = kernel->parts[work.device];
        ++part.pieces;
        part.seconds += seconds;
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
    bool isSplit = false;
    for (std::size_t i = 0; i < groups.size(); ++i)
      isSplit = isSplit || (groups[i] > 0 && !contents_.devices[i].ends_with(", home"));
    kernel->split += isSplit;
    kernel->unsplit += !isSplit && (isUnsplit || all > 0);
    if (!isSplit && !reason.empty())
      ++kernel->reasons[reason];
    if (!isSplit)
      return;
    seconds_[call.kernel].push_back((end - begin) * 1e-6);
    allGroups_[call.kernel] += all;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      kernel->parts[i].share += groups[i];
      kernel->parts[i].lastShare = groups[i] / all;
    }
  }

  void addTransfer(const Work& work, const std::string& cause, KernelSummary* kernel) {
    const std::uint64_t bytes = work.arguments.at("bytes");
    const double seconds = (work.end - work.begin) * 1e-6;
    const bool in = work.track == Track::TransfersIn;
    if (!work.arguments.contains("stopover") && !work.arguments.contains("home"))
      summary_.bytesBetweenNodes += bytes;
    summary_.slowest.push_back({label(contents_.devices[work.device]), in, bytes, seconds, cause});
    if (!kernel)
      return;
    DevicePart& part = kernel->parts[work.device];
    part.transferSeconds += seconds;
    (in ? part.bytesIn : part.bytesOut) += bytes;
  }

  void finishKernels() {
    for (auto& [name, kernel] : kernels_) {
      kernel.medianSeconds = median(seconds_[name]);
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

  const Contents& contents_;
  TraceSummary summary_;
  std::map<std::string, KernelSummary> kernels_;
  std::map<std::string, std::vector<double>> seconds_; ///< of its split launches
  std::map<std::string, double> allGroups_;
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

TraceSummary summarize(std::istream& trace, std::size_t transfers) {
  try {
    const Contents contents = Reader().read(trace);
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
