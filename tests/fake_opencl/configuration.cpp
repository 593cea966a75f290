#include "tests/fake_opencl/configuration.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

namespace libsplit::fake {

namespace {

using Json = nlohmann::json;

/// Refuses keys that nobody reads: a misspelt failure would never come.
void requireKnown(const Json& object, std::initializer_list<const char*> known) {
  for (const auto& [key, value] : object.items()) {
    bool found = false;
    for (const char* name : known)
      found = found || key == name;
    if (!found)
      throw std::runtime_error("unknown key " + key);
  }
}

DeviceConfiguration deviceOf(const Json& json) {
  requireKnown(json,
               {"name", "type", "memory", "largest", "takes_larger", "units", "max_group",
                "local_memory", "launch_us", "item_ns", "transfer_us", "gb_per_s", "in_caller",
                "dense_rects", "timing_us", "local_sizes", "options", "most_queues"});
  DeviceConfiguration device;
  device.name = json.value("name", device.name);
  device.isGpu = json.value("type", "gpu") == "gpu";
  device.memory = json.value("memory", device.memory);
  device.largest = json.value("largest", device.largest);
  device.takesLarger = json.value("takes_larger", device.takesLarger);
  device.units = json.value("units", device.units);
  device.maxGroup = json.value("max_group", device.maxGroup);
  device.localMemory = json.value("local_memory", device.localMemory);
  device.launchSeconds = json.value("launch_us", device.launchSeconds * 1e6) * 1e-6;
  device.itemSeconds = json.value("item_ns", device.itemSeconds * 1e9) * 1e-9;
  device.transferSeconds = json.value("transfer_us", device.transferSeconds * 1e6) * 1e-6;
  device.bytesPerSecond = json.value("gb_per_s", device.bytesPerSecond * 1e-9) * 1e9;
  device.inCaller = json.value("in_caller", device.inCaller);
  device.timingSeconds = json.value("timing_us", device.timingSeconds * 1e6) * 1e-6;
  device.localSizes = json.value("local_sizes", device.localSizes);
  device.mostQueues = json.value("most_queues", device.mostQueues);
  if (json.contains("options"))
    device.options = " " + json["options"].get<std::string>();
  device.denseRects = json.value("dense_rects", device.denseRects);
  return device;
}

/// The number over all platforms of "P.D".
unsigned deviceNumber(const std::vector<PlatformConfiguration>& platforms,
                      const std::string& label) {
  unsigned number = 0;
  for (std::size_t p = 0; p < platforms.size(); ++p)
    for (std::size_t d = 0; d < platforms[p].devices.size(); ++d, ++number)
      if (label == std::to_string(p) + "." + std::to_string(d))
        return number;
  throw std::runtime_error("no device " + label);
}

Mishap mishapOf(const std::string& kind, const Json& json,
                const std::vector<PlatformConfiguration>& platforms) {
  requireKnown(json, {"device", "number", "error", "others"});
  Mishap event;
  if (kind == "fail_call")
    event.kind = Mishap::Kind::FailCall;
  else if (kind == "fail_command")
    event.kind = Mishap::Kind::FailCommand;
  else if (kind == "lose")
    event.kind = Mishap::Kind::Lose;
  else if (kind == "hold")
    event.kind = Mishap::Kind::Hold;
  else
    throw std::runtime_error("unknown mishap " + kind);
  event.device = deviceNumber(platforms, json.at("device"));
  event.number = json.at("number");
  event.error = json.value("error", -5);
  event.others = json.value("others", 1);
  return event;
}

} // namespace

Configuration parseConfiguration(const std::string& text) {
  Json json;
  if (text.starts_with("{")) {
    json = Json::parse(text);
  } else {
    std::ifstream file(text);
    if (!file)
      throw std::runtime_error("can't read " + text);
    json = Json::parse(file);
  }
  requireKnown(json, {"platforms", "seed", "clock", "strict_flush", "shuffle", "goes_on",
                      "callback_thread", "callbacks_ms", "kernels_ms", "cache", "report",
                      "slow_calls", "script", "locks_events"});
  Configuration result;
  for (const Json& platform : json.value("platforms", Json::array())) {
    requireKnown(platform, {"name", "devices"});
    PlatformConfiguration each;
    each.name = platform.value("name", each.name);
    for (const Json& device : platform.value("devices", Json::array()))
      each.devices.push_back(deviceOf(device));
    result.platforms.push_back(std::move(each));
  }
  if (result.platforms.empty())
    result.platforms.push_back({.devices = {{}, {}}});
  result.seed = json.value("seed", result.seed);
  result.realClock = json.value("clock", "virtual") == "real";
  result.strictFlush = json.value("strict_flush", result.strictFlush);
  result.shuffle = json.value("shuffle", result.shuffle);
  result.goesOn = json.value("goes_on", result.goesOn);
  result.callbackThread = json.value("callback_thread", result.callbackThread);
  result.locksEvents = json.value("locks_events", result.locksEvents);
  result.callbackSeconds = json.value("callbacks_ms", 0.0) * 1e-3;
  result.kernelSeconds = json.value("kernels_ms", 0.0) * 1e-3;
  result.cache = json.value("cache", result.cache);
  result.report = json.value("report", result.report);
  result.slowCalls = json.value("slow_calls", result.slowCalls);
  for (const Json& entry : json.value("script", Json::array()))
    for (const auto& [kind, event] : entry.items())
      result.script.push_back(mishapOf(kind, event, result.platforms));
  return result;
}

} // namespace libsplit::fake
