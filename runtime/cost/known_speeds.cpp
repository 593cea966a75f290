#include "runtime/cost/known_speeds.h"

#include "runtime/core/disk_cache.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace libsplit::runtime {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr int formatVersion = 1;
/// What lost by being split is believed less in each run: the machine may have been busy then.
constexpr double keptLoss = 0.8;
/// Kernels that tell how devices compare; more would only be older.
constexpr std::size_t witnesses = 64;

bool isSpeed(double value) {
  return std::isfinite(value) && value >= 0 && value < 1e12;
}

Json toJson(const std::map<ShapeSearches::Key, ShapeSearch::Known>& shapes) {
  Json all = Json::array();
  for (const auto& [key, known] : shapes) {
    Json readings = Json::array();
    for (const ShapeSearch::Reading& each : known.readings)
      readings.push_back({each.shape.local, each.secondsPerItem});
    all.push_back({{"kind", key.kind},
                   {"tiny", key.isTiny},
                   {"whole", key.isWhole},
                   {"best", known.best.local},
                   {"over", known.isOver},
                   {"readings", readings},
                   {"credit", known.credit},
                   {"last_loss", known.lastLoss}});
  }
  return all;
}

void fromJson(const Json& all, std::map<ShapeSearches::Key, ShapeSearch::Known>& shapes) {
  constexpr double most = 1e6; // seconds: more is nonsense
  for (const Json& json : all) {
    ShapeSearch::Known known;
    known.best = {json.at("best").get<std::array<std::uint32_t, 3>>()};
    known.isOver = json.at("over").get<bool>();
    for (const Json& each : json.at("readings"))
      if (const double seconds = each.at(1).get<double>(); isSpeed(seconds) && seconds > 0)
        known.readings.push_back({{each.at(0).get<std::array<std::uint32_t, 3>>()}, seconds});
    known.credit = std::clamp(json.at("credit").get<double>(), -most, most);
    known.lastLoss = std::clamp(json.at("last_loss").get<double>(), -1.0, most);
    shapes[{"", json.at("tiny").get<bool>(), json.at("whole").get<bool>(),
            json.at("kind").get<unsigned>()}] = std::move(known);
  }
}

Json toJson(const std::string& machine, const std::string& kernel, const LaunchKey& key,
            const SpeedRecord& record) {
  Json json{{"machine", machine},
            {"kernel", kernel},
            {"range", key.range},
            {"classes", key.classes},
            {"items", record.items},
            {"seconds_per_item", record.secondsPerItem},
            {"at_most", record.atMost},
            {"home_seconds", record.homeSeconds},
            {"split_seconds", record.splitSeconds},
            {"seconds_per_byte", record.secondsPerByte},
            {"seconds_per_move", record.secondsPerMove},
            {"native_seconds", record.nativeSeconds},
            {"launches", record.launchesNow > 0 ? record.launchesNow : record.launches},
            {"used", record.used}};
  if (record.dimension)
    json["dimension"] = *record.dimension;
  if (!record.shapes.empty())
    json["local_sizes"] = toJson(record.shapes);
  return json;
}

bool fromJson(const Json& json, std::size_t devices, LaunchKey& key, SpeedRecord& record) {
  try {
    key.range = json.at("range").get<std::string>();
    key.classes = json.at("classes").get<std::vector<int>>();
    record.items = json.at("items").get<double>();
    record.secondsPerItem = json.at("seconds_per_item").get<std::vector<double>>();
    record.homeSeconds = json.at("home_seconds").get<double>();
    record.splitSeconds = json.at("split_seconds").get<double>();
    // Files of before they were kept lack these.
    record.secondsPerByte = json.value("seconds_per_byte", 0.0);
    record.secondsPerMove = json.value("seconds_per_move", 0.0);
    record.atMost = json.value("at_most", std::vector<double>());
    record.nativeSeconds = json.value("native_seconds", 0.0);
    record.launches = json.value("launches", std::uint64_t{0});
    if (json.contains("dimension"))
      record.dimension = json["dimension"].get<unsigned>();
    if (json.contains("local_sizes"))
      fromJson(json["local_sizes"], record.shapes);
    record.used = json.at("used").get<std::uint64_t>();
    if (record.homeSeconds > 0 && record.splitSeconds > record.homeSeconds)
      record.splitSeconds -= (1 - keptLoss) * (record.splitSeconds - record.homeSeconds);
  } catch (const Json::exception&) {
    return false;
  }
  return record.secondsPerItem.size() == devices && record.items > 0 && record.items < 1e30 &&
         isSpeed(record.homeSeconds) && isSpeed(record.splitSeconds) &&
         isSpeed(record.secondsPerByte) && isSpeed(record.secondsPerMove) &&
         isSpeed(record.nativeSeconds) && record.atMost.size() <= devices &&
         std::ranges::all_of(record.atMost, isSpeed) &&
         std::all_of(record.secondsPerItem.begin(), record.secondsPerItem.end(), isSpeed);
}

} // namespace

void SpeedRecord::changePieces(std::span<const std::size_t> devices, double factor) {
  for (const std::size_t device : devices)
    secondsPerItem[device] *= factor;
  splitSeconds *= factor; // if it was split over such devices
}

double SpeedRecord::gain() const {
  if (!(homeSeconds > 0))
    return 0;
  const double best = splitSeconds > 0 ? std::min(homeSeconds, splitSeconds) : homeSeconds;
  // How launches are timed natively and at home differs by some microseconds.
  constexpr double plain = 1.5;
  const bool isChosen =
      std::ranges::any_of(shapes, [](const auto& each) { return !each.second.best.isOpen(); });
  const bool wasSlower = isChosen && nativeSeconds > plain * best;
  return (wasSlower ? std::max(homeSeconds, nativeSeconds) : homeSeconds) - best;
}

KnownSpeeds::KnownSpeeds(std::string machine, std::size_t devices, std::size_t home)
    : machine_(std::move(machine)), devices_(devices), home_(home) {}

std::shared_ptr<SpeedRecord> KnownSpeeds::record(const std::string& kernel, const LaunchKey& key,
                                                 double items) {
  std::shared_ptr<SpeedRecord> record;
  if (!kernel.empty()) {
    std::shared_ptr<SpeedRecord>& entry = kernels_[kernel][key];
    if (!entry) {
      entry = std::make_shared<SpeedRecord>();
      ++count_;
    }
    record = entry;
  } else {
    record = std::make_shared<SpeedRecord>();
  }
  if (record->items > 0)
    for (double* seconds : {&record->homeSeconds, &record->splitSeconds, &record->nativeSeconds})
      *seconds *= items / record->items;
  record->items = items;
  record->secondsPerItem.resize(devices_);
  record->used = ++uses_;
  shrink();
  return record;
}

/// Drops some more than it must, so as not to have to look through all at each new record.
void KnownSpeeds::shrink() {
  if (count_ <= capacity)
    return;
  std::vector<std::uint64_t> uses;
  for (const auto& [kernel, records] : kernels_)
    for (const auto& [key, record] : records)
      uses.push_back(record->used);
  const auto dropped = static_cast<std::ptrdiff_t>(uses.size() - (capacity - capacity / 8));
  std::nth_element(uses.begin(), uses.begin() + dropped, uses.end());
  const std::uint64_t oldestKept = uses[static_cast<std::size_t>(dropped)];
  count_ = 0;
  for (auto& [kernel, records] : kernels_) {
    std::erase_if(records, [&](const auto& each) { return each.second->used < oldestKept; });
    count_ += records.size();
  }
  std::erase_if(kernels_, [](const auto& each) { return each.second.empty(); });
}

/// By device, the median over other kernels of its speed relative to home's; 0 where no kernel
/// tells.
std::vector<double> KnownSpeeds::relativeSpeeds() const {
  std::vector<std::shared_ptr<SpeedRecord>> newest;
  for (const auto& [kernel, records] : kernels_) {
    std::shared_ptr<SpeedRecord> best;
    for (const auto& [key, record] : records)
      if (record->secondsPerItem[home_] > 0 && (!best || record->used > best->used))
        best = record;
    if (best)
      newest.push_back(best);
  }
  std::sort(newest.begin(), newest.end(),
            [](const auto& a, const auto& b) { return a->used > b->used; });
  newest.resize(std::min(newest.size(), witnesses));
  std::vector<double> speeds(devices_, 0.0);
  for (std::size_t d = 0; d < devices_; ++d) {
    std::vector<double> ratios;
    for (const auto& record : newest)
      if (record->secondsPerItem[d] > 0)
        ratios.push_back(record->secondsPerItem[home_] / record->secondsPerItem[d]);
    if (ratios.empty())
      continue;
    auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    speeds[d] = *middle;
  }
  return speeds;
}

ShareController::Prior KnownSpeeds::prior(const std::string& kernel, const LaunchKey& key,
                                          double items) const {
  using Prior = ShareController::Prior;
  Prior prior;
  if (home_ >= devices_)
    return prior;
  const SpeedRecord* best = nullptr;
  if (auto found = kernels_.find(kernel); found != kernels_.end()) {
    double least = 0;
    for (const auto& [other, record] : found->second) {
      if (!(record->secondsPerItem[home_] > 0))
        continue;
      const double away = distance(key, items, other, record->items);
      const bool same = other == key;
      if (best && !same && away >= least)
        continue;
      best = record.get();
      least = away;
      prior.from = same ? Prior::From::SameLaunch : Prior::From::OtherLaunches;
      if (same)
        break;
    }
  }
  if (best) {
    for (double seconds : best->secondsPerItem)
      prior.speeds.push_back(seconds > 0 ? 1 / seconds : 0);
    const bool measured = prior.from == Prior::From::SameLaunch && best->homeSeconds > 0;
    prior.homeSeconds =
        measured ? best->homeSeconds * (items / best->items) : best->secondsPerItem[home_] * items;
    if (best->splitSeconds > 0 && best->homeSeconds > 0)
      prior.gain = best->homeSeconds / best->splitSeconds;
    if (prior.from == Prior::From::SameLaunch)
      prior.atMost = best->atMost;
    return prior;
  }
  prior.speeds = relativeSpeeds();
  if (prior.speeds[home_] > 0)
    prior.from = Prior::From::OtherKernels;
  return prior;
}

double KnownSpeeds::gain(const std::string& kernel) const {
  double most = 0;
  if (auto found = kernels_.find(kernel); found != kernels_.end())
    for (const auto& [key, record] : found->second)
      most = std::max(most, record->gain());
  return most;
}

bool KnownSpeeds::isOpen(const std::string& kernel, double shortest) const {
  const auto found = kernels_.find(kernel);
  return found != kernels_.end() && std::ranges::any_of(found->second, [&](const auto& each) {
           const SpeedRecord& record = *each.second;
           const double home =
               std::max(record.homeSeconds, record.secondsPerItem[home_] * record.items);
           return record.splitSeconds == 0 && home >= shortest;
         });
}

MovingRate KnownSpeeds::moving() const {
  const SpeedRecord* latest = nullptr;
  for (const auto& [kernel, records] : kernels_)
    for (const auto& [key, record] : records)
      if (record->secondsPerByte > 0 && (!latest || record->used > latest->used))
        latest = record.get();
  MovingRate rate;
  if (latest)
    rate.begin(latest->secondsPerByte, latest->secondsPerMove);
  return rate;
}

bool KnownSpeeds::knows(const std::string& kernel) const {
  const auto found = kernels_.find(kernel);
  return found != kernels_.end() && std::ranges::any_of(found->second, [&](const auto& each) {
           return each.second->secondsPerItem[home_] > 0;
         });
}

void KnownSpeeds::read(const std::string& text) {
  const std::size_t line = text.find('\n');
  if (line == std::string::npos || text.substr(0, line) != hashOf(text.substr(line + 1)))
    return;
  const Json document =
      Json::parse(text.begin() + static_cast<std::ptrdiff_t>(line) + 1, text.end(), nullptr, false);
  if (!document.is_object() || document.value("version", Json()) != formatVersion ||
      !document.contains("records") || !document["records"].is_array())
    return;
  foreign_.clear();
  std::uint64_t newest = 0;
  for (const Json& each : document["records"]) {
    if (!each.is_object() || !each.value("used", Json()).is_number_unsigned() ||
        !each.value("machine", Json()).is_string() || !each.value("kernel", Json()).is_string())
      continue;
    newest = std::max(newest, each["used"].get<std::uint64_t>());
    if (each["machine"] != machine_) {
      foreign_.emplace_back(each["used"], each.dump());
      continue;
    }
    LaunchKey key;
    auto record = std::make_shared<SpeedRecord>();
    if (!fromJson(each, devices_, key, *record))
      continue;
    if (kernels_[each["kernel"]].try_emplace(std::move(key), std::move(record)).second)
      ++count_;
  }
  // A counter near its end would never order anything again.
  if (newest < (std::uint64_t{1} << 62))
    uses_ = std::max(uses_, newest);
  shrink();
}

std::string KnownSpeeds::text() const {
  std::vector<std::pair<std::uint64_t, std::string>> all = foreign_;
  for (const auto& [kernel, records] : kernels_)
    for (const auto& [key, record] : records)
      if (home_ < devices_ && record->secondsPerItem[home_] > 0)
        all.emplace_back(record->used, toJson(machine_, kernel, key, *record).dump());
  std::sort(all.begin(), all.end(), std::greater<>());
  all.resize(std::min(all.size(), capacity));
  std::string body = "{\"version\":" + std::to_string(formatVersion) + ",\"records\":[";
  for (std::size_t i = 0; i < all.size(); ++i)
    body += (i ? ",\n" : "\n") + all[i].second;
  body += "\n]}\n";
  return hashOf(body) + "\n" + body;
}

namespace {

std::string pathOf(const std::string& directory) {
  return directory + "/speeds";
}

} // namespace

void readSpeeds(const std::string& directory, KnownSpeeds& speeds) {
  if (auto text = readFile(pathOf(directory)))
    speeds.read(*text);
}

bool writeSpeeds(const std::string& directory, KnownSpeeds& speeds) {
  readSpeeds(directory, speeds); // what others wrote since
  std::error_code error;
  fs::create_directories(directory, error);
  return replaceFile(pathOf(directory), speeds.text());
}

} // namespace libsplit::runtime
