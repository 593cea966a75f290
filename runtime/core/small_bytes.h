// Bytes that most often are those of a handle or a number, and need no memory of their own then.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace libsplit::runtime {

class SmallBytes {
public:
  SmallBytes() = default;
  explicit SmallBytes(std::span<const std::byte> bytes) { assign(bytes); }
  void assign(std::span<const std::byte> bytes) {
    if (bytes.size() <= inPlace_.size()) {
      std::ranges::copy(bytes, inPlace_.begin());
      elsewhere_.clear();
    } else {
      elsewhere_.assign(bytes.begin(), bytes.end());
    }
    size_ = bytes.size();
  }

  /// Valid until these bytes are assigned to, moved or gone.
  std::span<const std::byte> view() const {
    return {elsewhere_.empty() ? inPlace_.data() : elsewhere_.data(), size_};
  }
  const std::byte* data() const { return view().data(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool operator==(const SmallBytes& other) const {
    return std::ranges::equal(view(), other.view());
  }

private:
  std::array<std::byte, 16> inPlace_{};
  std::vector<std::byte> elsewhere_; ///< all of them, if they are more
  std::size_t size_ = 0;
};

} // namespace libsplit::runtime
