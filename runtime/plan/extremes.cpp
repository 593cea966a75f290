#include "runtime/plan/extremes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace libsplit::runtime {

namespace {

template <class T> Interval scan(const std::byte* at, std::uint64_t step, std::uint64_t count) {
  T low{}, high{};
  std::memcpy(&low, at, sizeof low);
  high = low;
  for (std::uint64_t i = 1; i < count; ++i) {
    at += step;
    T value;
    std::memcpy(&value, at, sizeof value);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return {Int{low}, Int{high}};
}

} // namespace

std::uint64_t ElementLayout::count(std::uint64_t size) const {
  const std::uint64_t bytes = width / 8;
  return size < phase + bytes ? 0 : (size - phase - bytes) / step + 1;
}

Interval scanElements(std::span<const std::byte> bytes, const ElementLayout& layout,
                      std::uint64_t first, std::uint64_t last) {
  if (first > last)
    return nothing;
  const std::byte* at = bytes.data() + layout.phase + first * layout.step;
  const std::uint64_t count = last - first + 1;
  switch (layout.width) {
  case 8:
    return layout.isSigned ? scan<std::int8_t>(at, layout.step, count)
                           : scan<std::uint8_t>(at, layout.step, count);
  case 16:
    return layout.isSigned ? scan<std::int16_t>(at, layout.step, count)
                           : scan<std::uint16_t>(at, layout.step, count);
  case 32:
    return layout.isSigned ? scan<std::int32_t>(at, layout.step, count)
                           : scan<std::uint32_t>(at, layout.step, count);
  default:
    return layout.isSigned ? scan<std::int64_t>(at, layout.step, count)
                           : scan<std::uint64_t>(at, layout.step, count);
  }
}

Extremes::Extremes(std::span<const std::byte> bytes, const ElementLayout& layout) {
  std::vector<Interval> blocks;
  const std::uint64_t count = layout.count(bytes.size());
  for (std::uint64_t first = 0; first < count; first += blockElements)
    blocks.push_back(
        scanElements(bytes, layout, first, std::min(first + blockElements, count) - 1));
  blocks_ = Hulls(std::move(blocks));
}

Extremes::Extremes(std::vector<Interval> blocks) : blocks_(std::move(blocks)) {}

std::optional<Interval> Extremes::between(std::uint64_t first, std::uint64_t last,
                                          const Read& read) const {
  const std::uint64_t firstWhole = (first + blockElements - 1) / blockElements;
  const std::uint64_t endWhole = (last + 1) / blockElements;
  if (firstWhole >= endWhole)
    return read(first, last);
  std::optional<Interval> all = blocks_.between(firstWhole, endWhole - 1);
  auto include = [&](std::uint64_t from, std::uint64_t to) {
    const std::optional<Interval> part = read(from, to);
    all = all && part ? std::optional(hull(*all, *part)) : std::nullopt;
  };
  if (first < firstWhole * blockElements)
    include(first, firstWhole * blockElements - 1);
  if (endWhole * blockElements <= last)
    include(endWhole * blockElements, last);
  return all;
}

} // namespace libsplit::runtime
