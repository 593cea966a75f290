// The reference for evaluate(): runs a summary work-item by work-item and notes every byte.
#pragma once

#include "analysis-pass/summary/evaluate.h"
#include "analysis-pass/summary/expr_value.h"

#include <array>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace libsplit {

struct TouchedBytes {
  std::set<std::uint64_t> reads;
  std::set<std::uint64_t> writes; ///< by accesses that are not marked certain, too
  /// Bytes written by accesses marked certain; the others may not have happened.
  std::set<std::uint64_t> sureWrites;
};

ByteSet toByteSet(const std::set<std::uint64_t>& bytes);

/// What a query of ids or sizes answers to work-item `item` of `range`, counted without the offset.
Int itemQuery(const Expr& query, const NDRange& range, const std::array<std::uint64_t, 3>& item);

/// What buffers hold, by parameter; only those that are loaded from need be there.
using BufferBytes = std::span<const std::vector<std::byte>>;

/// What a real execution does, wrapping as the hardware does. Unknown values are drawn from `salt`.
/// Nothing if a number leaves 128 bits or an element is loaded from outside its buffer.
std::optional<std::vector<TouchedBytes>> execute(const KernelSummary& summary, const NDRange& range,
                                                 std::span<const ArgumentValue> arguments,
                                                 const GroupBox& box, std::uint64_t salt,
                                                 BufferBytes buffers = {});

} // namespace libsplit
