// The least and the greatest element of any slice of a buffer, from a table that is made in one
// pass over it.
//
// The table holds the extremes of each block of 1024 elements: a slice of any length is a run of
// blocks (hulls.h), and two ends within blocks that are read element by element. Worked example:
// elements 1000 .. 200000 are 24 single elements, blocks 1 .. 194, and 321 elements.
#pragma once

#include "analysis-pass/summary/contents.h"
#include "runtime/plan/hulls.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace libsplit::runtime {

/// Elements at bytes phase, phase + step, ... of a buffer.
struct ElementLayout {
  unsigned width = 32; ///< bits: 8, 16, 32 or 64; little-endian
  bool isSigned = true;
  std::uint64_t step = 4;  ///< bytes, > 0
  std::uint64_t phase = 0; ///< < step
  auto operator<=>(const ElementLayout&) const = default;

  /// How many of them lie in `size` bytes.
  std::uint64_t count(std::uint64_t size) const;
};

/// The extremes of elements [first, last], which must lie within `bytes`. 1 ns per element.
Interval scanElements(std::span<const std::byte> bytes, const ElementLayout& layout,
                      std::uint64_t first, std::uint64_t last);

/// Immutable once made; thread-safe.
class Extremes {
public:
  static constexpr std::uint64_t blockElements = 1024;

  /// One pass over `bytes`.
  Extremes(std::span<const std::byte> bytes, const ElementLayout& layout);
  /// From the extremes of each block, computed elsewhere.
  explicit Extremes(std::vector<Interval> blocks);

  /// Of the elements [first, last]: of whole blocks from the table, at both ends of what `read`
  /// answers for elements [from, to]; nothing if it answers nothing.
  using Read = std::function<std::optional<Interval>(std::uint64_t from, std::uint64_t to)>;
  std::optional<Interval> between(std::uint64_t first, std::uint64_t last, const Read& read) const;

private:
  Hulls blocks_;
};

} // namespace libsplit::runtime
