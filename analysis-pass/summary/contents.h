// What buffers hold at a launch, as far as an evaluation asks.
//
// An index that is loaded from a buffer is a number like any other once the launch is known: the
// element itself where its position is one, the least and the greatest of a slice where it isn't.
// Where that would say too little, an inspection may have seen where the access goes. Who answers,
// and from where (host memory, a table of extremes, not yet at all), is no business of the
// evaluation's.
#pragma once

#include "analysis-pass/summary/checked_int.h"
#include "analysis-pass/summary/ndrange.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace libsplit {

/// Elements of a buffer argument: those at bytes first, first + step, ..., last, each of `width`
/// bits, little-endian. The last one ends within the argument; step > 0, or first == last.
struct ElementSlice {
  unsigned parameter = 0;
  unsigned width = 32; ///< 8, 16, 32 or 64
  bool isSigned = true;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t step = 4;

  std::uint64_t count() const { return first == last ? 1 : (last - first) / step + 1; }
  bool operator==(const ElementSlice&) const = default;
};

struct KernelSummary;

class Contents {
public:
  virtual ~Contents() = default;
  /// An interval that holds every element of `slice` at the launch, the narrowest if that is to be
  /// had; exact for one element. Nothing: not known, or the launch itself may write there.
  virtual std::optional<Interval> values(const ElementSlice& slice) = 0;
  /// Bytes of the argument, the first and the last, between which the launch's `box` performs
  /// access number `access` of the summary; an empty interval if it does not. Nothing: not known,
  /// evaluate it.
  virtual std::optional<Interval> touched(const KernelSummary& summary, std::size_t access,
                                          const GroupBox& box) {
    static_cast<void>(summary), static_cast<void>(access), static_cast<void>(box);
    return std::nullopt;
  }
  /// Whether no two work-items of the launch change one place of argument `parameter`
  /// (Access::changes), each by one or another of `summaries`. False where that is not known.
  virtual bool areDistinct(std::span<const KernelSummary* const> summaries, unsigned parameter) {
    static_cast<void>(summaries), static_cast<void>(parameter);
    return false;
  }
};

} // namespace libsplit
