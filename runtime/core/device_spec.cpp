#include "runtime/core/device_spec.h"

#include <charconv>
#include <string_view>

namespace libsplit::runtime {

namespace {

/// Takes a decimal number off the front of `text`.
bool takeNumber(std::string_view& text, unsigned& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c)
    return false;
  text.remove_prefix(1);
  return true;
}

bool takeItem(std::string_view& text, DeviceSpec::Item& item) {
  if (!takeNumber(text, item.platform) || !take(text, '.') || !takeNumber(text, item.device))
    return false;
  if (!take(text, '/'))
    return true;
  do {
    unsigned units = 0;
    if (!takeNumber(text, units) || units == 0)
      return false;
    item.computeUnits.push_back(units);
  } while (take(text, '+'));
  return true;
}

} // namespace

std::optional<DeviceSpec> parseDeviceSpec(const std::string& text) {
  DeviceSpec spec;
  if (text == "all")
    return spec;
  if (text == "gpu" || text == "cpu") {
    spec.kind = text == "gpu" ? DeviceSpec::Kind::Gpus : DeviceSpec::Kind::Cpus;
    return spec;
  }
  spec.kind = DeviceSpec::Kind::List;
  std::string_view rest = text;
  do {
    DeviceSpec::Item item;
    if (!takeItem(rest, item))
      return std::nullopt;
    spec.items.push_back(std::move(item));
  } while (take(rest, ','));
  if (!rest.empty())
    return std::nullopt;
  return spec;
}

} // namespace libsplit::runtime
