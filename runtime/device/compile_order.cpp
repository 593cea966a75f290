#include "runtime/device/compile_order.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace libsplit::runtime {

namespace {

using nlohmann::json;

const std::string brokenOff = "it was broken off after ";

/// A program's text need not be UTF-8.
json bytesOf(const std::string& text) {
  return json::binary({text.begin(), text.end()});
}

std::string textOf(const json& bytes) {
  const auto& binary = bytes.get_binary();
  return {binary.begin(), binary.end()};
}

json toJson(const CompileOrder& order) {
  json arguments = json::array(), launches = json::array();
  for (const CompileOrder::Argument& each : order.arguments)
    arguments.push_back({static_cast<int>(each.kind), each.size, json::binary(each.value)});
  for (const EnqueuedRange& each : order.launches)
    launches.push_back({each.offset, each.global, each.local, each.localGiven});
  return {{"platform", order.platform},     {"device", order.device},
          {"text", bytesOf(order.text)},    {"options", bytesOf(order.options)},
          {"kernel", order.kernel},         {"arguments", std::move(arguments)},
          {"dimensions", order.dimensions}, {"launches", std::move(launches)}};
}

CompileOrder orderOf(const json& made) {
  CompileOrder order;
  order.platform = made.at("platform");
  order.device = made.at("device");
  order.text = textOf(made.at("text"));
  order.options = textOf(made.at("options"));
  order.kernel = made.at("kernel");
  for (const json& each : made.at("arguments"))
    order.arguments.push_back({static_cast<CompileOrder::Argument::Kind>(each.at(0).get<int>()),
                               each.at(1), each.at(2).get_binary()});
  order.dimensions = made.at("dimensions");
  for (const json& each : made.at("launches"))
    order.launches.push_back({each.at(0), each.at(1), each.at(2), each.at(3)});
  return order;
}

} // namespace

std::vector<EnqueuedRange> leastLike(const EnqueuedRange& range, unsigned dimension) {
  if (!range.localGiven)
    return {range};
  // PoCL has smaller code for NDRanges of fewer work-items than this in each dimension.
  constexpr std::size_t large = std::size_t{1} << 16;
  constexpr std::size_t parts = 8;
  const auto least = [&](EnqueuedRange like) {
    for (std::size_t d = 0; d < 3; ++d)
      like.global[d] = like.global[d] < large
                           ? std::min(like.global[d], like.local[d])
                           : (large + like.local[d] - 1) / like.local[d] * like.local[d];
    return like;
  };
  EnqueuedRange part = range;
  part.global[dimension] = std::max(range.global[dimension] / parts, range.local[dimension]);
  std::vector<EnqueuedRange> all{least(range)};
  if (least(part) != all.front())
    all.push_back(least(part));
  return all;
}

std::string brokenOffAfter(double seconds) {
  return brokenOff + std::to_string(seconds) + '\n';
}

double patienceLeft(const std::optional<std::string>& note) {
  if (!note)
    return patienceWithCompiling;
  double seconds = patienceWithCompiling;
  if (note->starts_with(brokenOff))
    std::istringstream(note->substr(brokenOff.size())) >> seconds;
  return std::max(0.0, patienceWithCompiling - seconds);
}

std::string serialize(std::span<const CompileOrder> orders) {
  json all = json::array();
  for (const CompileOrder& order : orders)
    all.push_back(toJson(order));
  const std::vector<std::uint8_t> bytes = json::to_cbor(all);
  return {bytes.begin(), bytes.end()};
}

std::optional<std::vector<CompileOrder>> parseCompileOrders(const std::string& text) try {
  std::vector<CompileOrder> orders;
  for (const json& each : json::from_cbor(text.begin(), text.end()))
    orders.push_back(orderOf(each));
  return orders;
} catch (const json::exception&) {
  return std::nullopt;
}

} // namespace libsplit::runtime
