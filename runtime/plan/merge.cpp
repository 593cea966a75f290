#include "runtime/plan/merge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>

namespace libsplit::runtime {

namespace {

/// Bytes that are compared at once before single elements are looked at.
constexpr std::uint64_t blockBytes = 4096;

bool differs(const std::byte* a, const std::byte* b, std::uint64_t begin, std::uint64_t end) {
  return std::memcmp(a + begin, b + begin, end - begin) != 0;
}

/// Takes over the elements of [begin, end) in which `from` differs from `old`. Both bounds are
/// multiples of Grain.
template <std::size_t Grain>
void takeChanged(const std::byte* from, const std::byte* old, std::byte* into, std::uint64_t begin,
                 std::uint64_t end) {
  for (std::uint64_t at = begin; at < end; at += Grain) {
    std::array<std::byte, Grain> element, before;
    std::memcpy(element.data(), from + at, Grain);
    std::memcpy(before.data(), old + at, Grain);
    if (element != before)
      std::memcpy(into + at, element.data(), Grain);
  }
}

void takeChanged(const std::byte* from, const std::byte* old, std::byte* into, std::uint64_t begin,
                 std::uint64_t end, std::uint32_t grain) {
  auto cutElement = [&](std::uint64_t first, std::uint64_t past) {
    if (first < past && differs(from, old, first, past))
      std::memcpy(into + first, from + first, past - first);
  };
  const std::uint64_t wholeBegin = std::min((begin + grain - 1) / grain * grain, end);
  const std::uint64_t wholeEnd = std::max(end / grain * grain, wholeBegin);
  cutElement(begin, wholeBegin);
  switch (grain) {
  case 1:
    takeChanged<1>(from, old, into, wholeBegin, wholeEnd);
    break;
  case 2:
    takeChanged<2>(from, old, into, wholeBegin, wholeEnd);
    break;
  case 4:
    takeChanged<4>(from, old, into, wholeBegin, wholeEnd);
    break;
  case 8:
    takeChanged<8>(from, old, into, wholeBegin, wholeEnd);
    break;
  default:
    takeChanged<16>(from, old, into, wholeBegin, wholeEnd);
    break;
  }
  cutElement(wholeEnd, end);
}

/// All `copies` cover [begin, end), which is no longer than a block.
void mergeBlock(std::uint64_t begin, std::uint64_t end, std::uint32_t grain,
                std::span<const MergeCopy* const> copies, const std::byte* old, std::byte* into) {
  std::size_t changed = 0;
  const MergeCopy* last = nullptr;
  for (const MergeCopy* copy : copies)
    if (differs(copy->data, old, begin, end)) {
      ++changed;
      last = copy;
    }
  if (changed == 0)
    return;
  if (changed == 1 && into == old) {
    std::memcpy(into + begin, last->data + begin, end - begin);
    return;
  }
  // `into` may be `old`: what it was must outlast the first copy.
  std::array<std::byte, blockBytes> before;
  std::memcpy(before.data(), old + begin, end - begin);
  for (const MergeCopy* copy : copies)
    takeChanged(copy->data, before.data() - begin, into, begin, end, grain);
}

template <class T, class Operate>
void applyAll(ByteRange range, const std::byte* from, std::byte* into, Operate operate) {
  for (std::uint64_t at = range.begin; at + sizeof(T) <= range.end; at += sizeof(T)) {
    T value, more;
    std::memcpy(&value, into + at, sizeof value);
    std::memcpy(&more, from + at, sizeof more);
    value = operate(value, more);
    std::memcpy(into + at, &value, sizeof value);
  }
}

template <class Signed, class Float>
void applyRange(ByteRange range, const UpdateKind& kind, const std::byte* from, std::byte* into) {
  using Operation = UpdateKind::Operation;
  using Unsigned = std::make_unsigned_t<Signed>;
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  // What nobody added to stays as it is, bit for bit: it may be no number at all.
  const auto sum = [](Float a, Float b) {
    const bool isNeutral = std::bit_cast<Unsigned>(b) == std::bit_cast<Unsigned>(-Float{0});
    return isNeutral ? a : a + b;
  };
  switch (kind.operation) {
  case Operation::Add:
    return applyAll<Unsigned>(range, from, into, std::plus<>());
  case Operation::And:
    return applyAll<Unsigned>(range, from, into, std::bit_and<>());
  case Operation::Or:
    return applyAll<Unsigned>(range, from, into, std::bit_or<>());
  case Operation::Xor:
    return applyAll<Unsigned>(range, from, into, std::bit_xor<>());
  case Operation::Min:
    return kind.isSigned ? applyAll<Signed>(range, from, into, least)
                         : applyAll<Unsigned>(range, from, into, least);
  case Operation::Max:
    return kind.isSigned ? applyAll<Signed>(range, from, into, most)
                         : applyAll<Unsigned>(range, from, into, most);
  case Operation::FloatAdd:
    return applyAll<Float>(range, from, into, sum);
  }
}

template <class Signed> std::uint64_t limit(bool lowest, bool isSigned) {
  using Unsigned = std::make_unsigned_t<Signed>;
  if (!isSigned)
    return lowest ? 0 : std::numeric_limits<Unsigned>::max();
  return static_cast<Unsigned>(lowest ? std::numeric_limits<Signed>::min()
                                      : std::numeric_limits<Signed>::max());
}

} // namespace

void mergeDifferences(ByteRange range, std::uint32_t grain, std::span<const MergeCopy> copies,
                      const std::byte* old, std::byte* into) {
  // Between two bounds of any set the same copies count.
  std::vector<std::uint64_t> bounds;
  std::vector<ByteSet> within;
  for (const MergeCopy& copy : copies) {
    within.push_back(intersect(*copy.bytes, ByteSet(range)));
    for (const ByteRange& each : within.back().ranges()) {
      bounds.push_back(each.begin);
      bounds.push_back(each.end);
    }
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  std::vector<std::size_t> at(copies.size(), 0); // in each set, the first range that is not past
  std::vector<const MergeCopy*> counting;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    counting.clear();
    for (std::size_t c = 0; c < copies.size(); ++c) {
      const std::span<const ByteRange> ranges = within[c].ranges();
      while (at[c] < ranges.size() && ranges[at[c]].end <= bounds[i])
        ++at[c];
      if (at[c] < ranges.size() && ranges[at[c]].begin <= bounds[i])
        counting.push_back(&copies[c]);
    }
    if (counting.empty())
      continue;
    for (std::uint64_t begin = bounds[i]; begin < bounds[i + 1];) {
      const std::uint64_t end =
          std::min(begin / blockBytes * blockBytes + blockBytes, bounds[i + 1]);
      mergeBlock(begin, end, grain, counting, old, into);
      begin = end;
    }
  }
}

void mergeUpdates(ByteRange range, const UpdateKind& kind, const MergeCopy& copy, std::byte* into) {
  const ByteSet within = intersect(*copy.bytes, ByteSet(range));
  for (const ByteRange& each : within.ranges()) {
    if (kind.width == 4)
      applyRange<std::int32_t, float>(each, kind, copy.data, into);
    else
      applyRange<std::int64_t, double>(each, kind, copy.data, into);
  }
}

std::uint64_t neutralElement(const UpdateKind& kind) {
  using Operation = UpdateKind::Operation;
  const bool wide = kind.width == 8;
  switch (kind.operation) {
  case Operation::And:
    return ~std::uint64_t{0};
  case Operation::Min:
  case Operation::Max: {
    const bool lowest = kind.operation == Operation::Max;
    return wide ? limit<std::int64_t>(lowest, kind.isSigned)
                : limit<std::int32_t>(lowest, kind.isSigned);
  }
  case Operation::FloatAdd: // -0: 0 + -0 is 0, and -0 + -0 is -0
    return wide ? std::bit_cast<std::uint64_t>(-0.0) : std::bit_cast<std::uint32_t>(-0.0f);
  default:
    return 0;
  }
}

} // namespace libsplit::runtime
