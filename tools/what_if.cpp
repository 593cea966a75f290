#include "tools/what_if.h"

#include "runtime/core/text_table.h"
#include "tools/median.h"
#include "tools/trace_replay.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace libsplit::tools {

namespace {

using namespace runtime;
using Json = nlohmann::ordered_json;

std::string nameOf(const std::string& device) {
  const auto space = device.find(' ');
  std::string name = space == std::string::npos ? device : device.substr(space + 1);
  constexpr std::string_view home = ", home";
  if (name.ends_with(home))
    name.resize(name.size() - home.size());
  return name;
}

/// Copies as they were, or of a device of the same name.
TraceCosts::Link linkOf(const TraceContents& contents, const TraceCosts& costs, std::size_t source,
                        bool toDevice) {
  TraceCosts::Link link = costs.link(source, toDevice);
  for (std::size_t d = 0; d < contents.devices.size() && !link.isKnown; ++d)
    if (nameOf(contents.devices[d]) == nameOf(contents.devices[source]))
      link = costs.link(d, toDevice);
  return link;
}

Setting settingOf(const TraceContents& contents, const TraceCosts& costs, const WhatIf& question) {
  Setting setting;
  std::set<std::string> seen;
  for (const TraceDevice& device : contents.known)
    setting.nodes = std::max<std::size_t>(setting.nodes, device.node + 1);
  auto add = [&](std::size_t source, bool participates) {
    Member member{
        source, contents.known[source].label, contents.known[source].node, participates, {}};
    while (!seen.insert(member.label).second) {
      member.label += "'";
      if (contents.known[source].node != hostNode)
        member.node = static_cast<NodeId>(setting.nodes); // until nobody has it
    }
    setting.nodes = std::max<std::size_t>(setting.nodes, member.node + 1);
    for (const bool toDevice : {false, true}) {
      TraceCosts::Link& link = member.links[toDevice] = linkOf(contents, costs, source, toDevice);
      auto asked = question.links.find(contents.known[source].label);
      if (asked == question.links.end())
        asked = question.links.find("");
      if (asked != question.links.end())
        link = {asked->second.secondsEach.value_or(link.secondsEach),
                1 / asked->second.bytesPerSecond, true};
    }
    setting.members.push_back(std::move(member));
  };
  if (question.devices.empty())
    for (std::size_t d = 0; d < contents.known.size(); ++d)
      add(d, contents.known[d].participates);
  for (const std::string& label : question.devices) {
    const auto found = std::ranges::find(contents.known, label, &TraceDevice::label);
    if (found == contents.known.end())
      throw TraceError("the trace has no device " + label + ", so that nothing is known of it");
    add(static_cast<std::size_t>(found - contents.known.begin()), true);
  }
  const auto home = std::ranges::find(contents.known, true, &TraceDevice::isHome);
  if (home == contents.known.end())
    throw TraceError("the trace does not say which device is the program's own");
  const auto source = static_cast<std::size_t>(home - contents.known.begin());
  if (std::ranges::find(setting.members, source, &Member::source) == setting.members.end())
    add(source, false);
  setting.home = static_cast<std::size_t>(
      std::ranges::find(setting.members, source, &Member::source) - setting.members.begin());
  return setting;
}

double medianOfLastQuarter(const std::vector<double>& values) {
  const auto count = static_cast<std::ptrdiff_t>((values.size() + 3) / 4);
  return median({values.end() - count, values.end()});
}

/// Bytes that moved between memories for a call, as the statistics count them.
std::uint64_t recordedBytes(const TraceContents& contents, const TraceCall& call) {
  std::uint64_t bytes = 0;
  for (const std::size_t index : call.works) {
    const Json& arguments = contents.works[index].arguments;
    if (arguments.contains("bytes") && !arguments.contains("stopover") &&
        !arguments.contains("home"))
      bytes += arguments.at("bytes").get<std::uint64_t>();
  }
  return bytes;
}

/// From the first event to the last, and the part of it in which a device did something.
std::pair<double, double> spanOf(const TraceContents& contents) {
  double begin = std::numeric_limits<double>::infinity(), end = 0;
  std::vector<std::pair<double, double>> works;
  for (const TraceWork& work : contents.works)
    works.emplace_back(work.begin, work.end);
  for (const TraceCall& call : contents.calls) {
    begin = std::min(begin, call.begin);
    end = std::max(end, call.end);
  }
  std::ranges::sort(works);
  double busy = 0, until = 0;
  for (const auto& [from, to] : works) {
    begin = std::min(begin, from);
    end = std::max(end, to);
    busy += std::max(0.0, to - std::max(from, until));
    until = std::max(until, to);
  }
  return {end > begin ? (end - begin) * 1e-6 : 0, busy * 1e-6};
}

/// Adds up what is said of each launch.
class Summing {
public:
  Summing(const TraceContents& contents, const std::vector<RecordedLaunch>& launches)
      : contents_(contents), launches_(launches) {}

  std::vector<WhatIfKernel> sum(const Replayed& asked, const Replayed& before) {
    std::map<std::string, std::vector<std::size_t>> byKernel;
    for (std::size_t i = 0; i < launches_.size(); ++i)
      byKernel[contents_.calls[launches_[i].call].kernel].push_back(i);
    std::vector<WhatIfKernel> kernels;
    for (const auto& [name, indices] : byKernel)
      kernels.push_back(kernel(name, indices, asked, before));
    std::ranges::stable_sort(kernels, std::greater<>(), &WhatIfKernel::recordedSeconds);
    return kernels;
  }

private:
  WhatIfKernel kernel(const std::string& name, const std::vector<std::size_t>& indices,
                      const Replayed& asked, const Replayed& before) const {
    WhatIfKernel kernel;
    kernel.name = name;
    kernel.launches = indices.size();
    std::vector<double> was, is;
    double off = 0;
    for (const std::size_t i : indices) {
      const Outcome& outcome = asked.launches[i];
      const Outcome& again = before.launches[i];
      const double seconds = launches_[i].seconds;
      was.push_back(seconds);
      kernel.recordedSeconds += seconds;
      kernel.recordedBytes += recordedBytes(contents_, contents_.calls[launches_[i].call]);
      if (kernel.unknown.empty())
        kernel.unknown = !outcome.unknown.empty() ? outcome.unknown : again.unknown;
      is.push_back(outcome.seconds);
      kernel.seconds += outcome.seconds;
      kernel.bytes += outcome.bytes;
      off += std::abs(again.seconds - seconds);
      kernel.shares = outcome.shares;
    }
    kernel.recordedLaunchSeconds = medianOfLastQuarter(was);
    kernel.launchSeconds = medianOfLastQuarter(is);
    kernel.error = kernel.recordedSeconds > 0 ? off / kernel.recordedSeconds : 0;
    return kernel;
  }

  const TraceContents& contents_;
  const std::vector<RecordedLaunch>& launches_;
};

void describe(WhatIfAnswer& answer, const Replayed& asked, const TraceContents& contents) {
  answer.notes = asked.notes;
  if (!asked.extended.empty()) {
    std::string devices;
    for (const std::string& each : asked.extended)
      devices += (devices.empty() ? "" : ", ") + each;
    answer.notes.push_back("More of a launch than it ever ran is expected of " + devices +
                           ": its time is drawn out from there.");
  }
  std::map<std::string, std::uint64_t> natives;
  for (const TraceNative& native : contents.natives)
    ++natives[native.kernel];
  for (const auto& [kernel, count] : natives)
    answer.notes.push_back(std::to_string(count) + " launches of " + kernel +
                           " went to the driver as they came and were not timed: they count as "
                           "they were.");
  if (contents.dropped > 0)
    answer.notes.push_back("The trace lacks " + std::to_string(contents.dropped) + " events.");
}

/// All launches went to the driver as they came.
WhatIfAnswer nothingTimed(const TraceContents& contents) {
  WhatIfAnswer answer;
  for (const TraceDevice& device : contents.known)
    answer.devices.push_back(device.label);
  answer.recordedSeconds = spanOf(contents).first;
  std::map<std::string, std::map<std::string, std::uint64_t>> kernels;
  for (const TraceNative& native : contents.natives)
    ++kernels[native.kernel][native.reason];
  for (const auto& [name, reasons] : kernels) {
    WhatIfKernel& kernel = answer.kernels.emplace_back();
    kernel.name = name;
    for (const auto& [reason, count] : reasons)
      kernel.launches += count;
    const auto most =
        std::ranges::max_element(reasons, {}, [](const auto& each) { return each.second; });
    kernel.unknown =
        "its launches went to the driver as they came, and were not timed (" + most->first + ")";
  }
  return answer;
}

std::string timesText(double before, double after) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.2f x", before > 0 ? after / before : 0);
  return digits;
}

} // namespace

std::optional<std::pair<std::string, WhatIf::Link>> parseLink(const std::string& text) {
  const auto equals = text.find('=');
  const std::string device = equals == std::string::npos ? "" : text.substr(0, equals);
  const std::string rest = equals == std::string::npos ? text : text.substr(equals + 1);
  double rate = 0, latency = 0;
  int used = 0, all = 0;
  if (std::sscanf(rest.c_str(), "%lf%n,%lf%n", &rate, &used, &latency, &all) < 1 || !(rate > 0) ||
      !std::isfinite(rate) || !(latency >= 0) || !std::isfinite(latency))
    return std::nullopt;
  const bool hasLatency = all > 0;
  if (static_cast<std::size_t>(hasLatency ? all : used) != rest.size() ||
      (equals != std::string::npos && device.empty()))
    return std::nullopt;
  WhatIf::Link link{rate * 1e9, std::nullopt};
  if (hasLatency)
    link.secondsEach = latency * 1e-6;
  return std::make_pair(device, link);
}

WhatIfAnswer whatIf(const TraceContents& contents, const WhatIf& question) {
  if (contents.version < 2)
    throw TraceError("a trace of version 1 does not say what the launches were; record it anew");
  const std::vector<RecordedLaunch> launches = recordedLaunches(contents);
  if (launches.empty())
    return nothingTimed(contents);
  if (contents.known.size() != contents.devices.size())
    throw TraceError("it does not describe all its devices");
  for (const auto& [label, link] : question.links)
    if (!label.empty() &&
        std::ranges::find(contents.known, label, &TraceDevice::label) == contents.known.end())
      throw TraceError("the trace has no device " + label + ", so that nothing is known of it");
  try {
    const TraceCosts costs(contents, launches);
    const Replayed before =
        replay(contents, launches, costs, settingOf(contents, costs, {}), std::nullopt);
    std::optional<Policy> policy = question.policy;
    if (!policy && !question.devices.empty())
      policy = Policy{};
    const Setting setting = settingOf(contents, costs, question);
    if (policy && policy->kind == Policy::Kind::Static &&
        policy->shares.size() > static_cast<std::size_t>(std::ranges::count(setting.members, true,
                                                                            &Member::participates)))
      throw TraceError("there are more shares than devices");
    const Replayed asked = replay(contents, launches, costs, setting, policy);

    WhatIfAnswer answer;
    for (const Member& member : setting.members)
      answer.devices.push_back(member.label);
    answer.kernels = Summing(contents, launches).sum(asked, before);
    const auto [span, busy] = spanOf(contents);
    answer.recordedSeconds = span;
    double all = 0, known = 0, change = asked.commandSeconds - before.commandSeconds, off = 0;
    for (const TraceCall& call : contents.calls)
      all += longestSeconds(contents, call);
    bool isKnown = asked.unknownCommand.empty() && before.unknownCommand.empty();
    for (const WhatIfKernel& kernel : answer.kernels) {
      isKnown = isKnown && kernel.unknown.empty();
      change += kernel.seconds - kernel.recordedSeconds;
      if (!kernel.unknown.empty())
        continue;
      known += kernel.recordedSeconds;
      off += kernel.error * kernel.recordedSeconds;
    }
    // Where devices work on several calls at once, only a part of what each takes is waited for.
    const double waited = all > 0 ? std::min(1.0, busy / all) : 1;
    if (isKnown)
      answer.seconds = std::max(span - busy, span + waited * change);
    if (known > 0)
      answer.error = off / known;
    describe(answer, asked, contents);
    if (!asked.unknownCommand.empty())
      answer.notes.push_back(
          "What reads and writes of the program take is unknown: " + asked.unknownCommand + ".");
    return answer;
  } catch (const Json::exception& error) {
    throw TraceError(std::string("an event is damaged: ") + error.what());
  }
}

std::string gainByModel(const TraceContents& contents) {
  WhatIf question;
  question.policy = Policy{};
  question.policy->kind = Policy::Kind::Off;
  WhatIfAnswer answer;
  try {
    answer = whatIf(contents, question);
  } catch (const TraceError& error) {
    return std::string("The model of what launches cost says nothing: ") + error.what() + ".";
  }
  double took = 0, home = 0;
  std::string unknown;
  for (const WhatIfKernel& kernel : answer.kernels) {
    if (!kernel.unknown.empty()) {
      unknown += (unknown.empty() ? " Of " : "; of ") + kernel.name +
                 " nothing can be said: " + kernel.unknown;
      continue;
    }
    took += kernel.recordedSeconds;
    home += kernel.seconds;
  }
  if (!unknown.empty())
    unknown += ".";
  if (!(took > 0))
    return unknown.empty() ? "" : unknown.substr(1);
  if (std::abs(home - took) <= *answer.error * (home + took)) // either may be off
    return "The model of what launches cost is off by " + percentText(*answer.error) +
           " on this run, which is more than what it says that splitting gained or lost." + unknown;
  return "By the model of what launches cost, which is off by " + percentText(*answer.error) +
         ", those that were timed took " + durationText(took) + " and would have taken " +
         durationText(home) + " on the program's own device alone, " + timesText(took, home) + "." +
         unknown;
}

std::string toText(const WhatIfAnswer& answer, const std::string& program) {
  std::ostringstream text;
  const auto factor = timesText;
  text << program;
  for (const std::string& label : answer.devices)
    text << (&label == answer.devices.data() ? " on " : ", ") << label;
  text << ": "
       << (answer.seconds
               ? durationText(*answer.seconds) + " for " + durationText(answer.recordedSeconds) +
                     " as recorded, " + factor(answer.recordedSeconds, *answer.seconds)
               : std::string("unknown, since a kernel is"))
       << "\n";
  if (answer.error)
    text << "Asked for what was recorded, the model is off by " << percentText(*answer.error)
         << " of the launches' time.\n";
  text << "\n";
  std::vector<std::vector<std::string>> rows = {{"kernel", "launches", "a launch was", "would be",
                                                 "", "all were", "would be", "shares", "moved",
                                                 "would move", "model off"}};
  for (const WhatIfKernel& kernel : answer.kernels) {
    std::string shares;
    for (const double share : kernel.shares)
      shares += (shares.empty() ? "" : " / ") + percentText(share);
    const bool isKnown = kernel.unknown.empty();
    auto told = [&](std::string value) { return isKnown ? std::move(value) : std::string("?"); };
    rows.push_back({kernel.name, std::to_string(kernel.launches),
                    durationText(kernel.recordedLaunchSeconds),
                    told(durationText(kernel.launchSeconds)),
                    told(factor(kernel.recordedLaunchSeconds, kernel.launchSeconds)),
                    durationText(kernel.recordedSeconds), told(durationText(kernel.seconds)),
                    told(shares), amountText(kernel.recordedBytes), told(amountText(kernel.bytes)),
                    told(percentText(kernel.error))});
  }
  text << textTable(rows);
  std::string rest;
  for (const WhatIfKernel& kernel : answer.kernels)
    if (!kernel.unknown.empty())
      rest += "* " + kernel.name + " is unknown: " + kernel.unknown + ".\n";
  for (const std::string& note : answer.notes)
    rest += "* " + note + "\n";
  if (!rest.empty())
    text << "\n" << rest;
  return text.str();
}

Json toJson(const WhatIfAnswer& answer) {
  Json kernels = Json::array();
  for (const WhatIfKernel& kernel : answer.kernels) {
    const bool isKnown = kernel.unknown.empty();
    auto told = [&](const Json& value) { return isKnown ? value : Json(nullptr); };
    kernels.push_back({{"name", kernel.name},
                       {"launches", kernel.launches},
                       {"unknown", isKnown ? Json(nullptr) : Json(kernel.unknown)},
                       {"recorded_seconds", kernel.recordedSeconds},
                       {"seconds", told(kernel.seconds)},
                       {"recorded_launch_seconds", kernel.recordedLaunchSeconds},
                       {"launch_seconds", told(kernel.launchSeconds)},
                       {"recorded_bytes", kernel.recordedBytes},
                       {"bytes", told(kernel.bytes)},
                       {"shares", told(kernel.shares)},
                       {"error", told(kernel.error)}});
  }
  return {{"devices", answer.devices},
          {"recorded_seconds", answer.recordedSeconds},
          {"seconds", answer.seconds ? Json(*answer.seconds) : Json(nullptr)},
          {"error", answer.error ? Json(*answer.error) : Json(nullptr)},
          {"kernels", std::move(kernels)},
          {"notes", answer.notes}};
}

} // namespace libsplit::tools
