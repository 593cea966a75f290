// A number for what launches have in common: the same for launches that are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace libsplit::runtime {

class LaunchId {
public:
  /// `kernel`: only compared.
  explicit LaunchId(const void* kernel) { mix(std::hash<const void*>()(kernel)); }
  void mix(std::size_t value) { value_ = value_ * 0x9E3779B97F4A7C15 + value; }
  void mix(const void* object) { mix(std::hash<const void*>()(object)); }
  std::uint64_t value() const { return value_; }

private:
  std::uint64_t value_ = 0;
};

} // namespace libsplit::runtime
