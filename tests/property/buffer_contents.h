// Contents that lie in plain memory: the reference that answers as narrowly as can be.
#pragma once

#include "analysis-pass/summary/contents.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace libsplit {

/// Elements as bytes, for a buffer.
template <class T> std::vector<std::byte> bufferOf(const std::vector<T>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  return {bytes.begin(), bytes.end()};
}

class BufferContents : public Contents {
public:
  /// By parameter; an empty one is not known. `buffers` must outlive this.
  explicit BufferContents(std::span<const std::vector<std::byte>> buffers) : buffers_(buffers) {}

  std::optional<Interval> values(const ElementSlice& slice) override {
    const std::vector<std::byte>& bytes = buffers_[slice.parameter];
    if (bytes.empty())
      return std::nullopt;
    asked.push_back(slice);
    Interval all = nothing;
    for (std::uint64_t i = 0, at = slice.first; i < slice.count(); ++i, at += slice.step) {
      std::uint64_t raw = 0;
      std::memcpy(&raw, bytes.data() + at, slice.width / 8);
      Int value{raw};
      if (slice.isSigned && raw >> (slice.width - 1) & 1)
        value -= Int{1} << slice.width;
      all = hull(all, {value, value});
    }
    return all;
  }

  std::vector<ElementSlice> asked;

private:
  std::span<const std::vector<std::byte>> buffers_;
};

} // namespace libsplit
