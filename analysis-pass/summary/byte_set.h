// A set of bytes of one buffer, as sorted, disjoint, non-adjacent half-open ranges.
//
// This is the currency of the whole project: regions that kernels touch, bytes that are valid on a
// memory node, bytes that travel. Offsets count from the start of the buffer. All operations are
// pure; two equal sets have equal representations, so == is set equality. A set of one range, as
// most are, holds it in place; of more, copies share them until one is added to. So copying is
// O(1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace libsplit {

/// Bytes [begin, end) of a buffer. Empty when begin == end; begin > end never occurs.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool operator==(const ByteRange&) const = default;
};

class ByteSet {
public:
  ByteSet() = default;
  ByteSet(ByteRange range) { add(range); }
  ByteSet(std::uint64_t begin, std::uint64_t end) { add({begin, end}); }

  /// Adds `range`; amortised O(1) when ranges arrive in ascending order, else O(n).
  void add(ByteRange range);
  /// Adds all of `other`; O(|other|) ranges where none of them begins before the last of these,
  /// else as `unite`.
  void uniteWith(const ByteSet& other);

  bool empty() const { return one_.empty() && !several_; }
  /// Number of bytes in the set.
  std::uint64_t size() const;
  /// Smallest range that contains the set; empty for the empty set.
  ByteRange hull() const;
  bool contains(const ByteSet& other) const;
  bool intersects(const ByteSet& other) const;

  /// As long as the set stays where it is, and as it is.
  std::span<const ByteRange> ranges() const {
    return several_ ? std::span<const ByteRange>(*several_)
                    : std::span(&one_, one_.empty() ? std::size_t{0} : std::size_t{1});
  }
  bool operator==(const ByteSet& other) const {
    return isSame(other) || std::ranges::equal(ranges(), other.ranges());
  }
  /// Equal, and known to be so in O(1): copies of each other, or of one range at most.
  bool isSame(const ByteSet& other) const {
    return one_ == other.one_ && several_ == other.several_;
  }

private:
  friend ByteSet unite(const ByteSet&, const ByteSet&);
  friend ByteSet intersect(const ByteSet&, const ByteSet&);
  friend ByteSet subtract(const ByteSet&, const ByteSet&);

  /// A range that does not begin before the last one. `expected`: how many there may be.
  void append(ByteRange range, std::size_t expected = 0);
  void append(std::span<const ByteRange> ranges);

  ByteRange one_; ///< the only one; else [0,0)
  /// Two and more, else null; changed only while not shared.
  std::shared_ptr<std::vector<ByteRange>> several_;
};

/// a ∪ b, a ∩ b and a ∖ b, each in O(|a| + |b|) ranges; a ∩ b in less where few meet many.
ByteSet unite(const ByteSet& a, const ByteSet& b);
ByteSet intersect(const ByteSet& a, const ByteSet& b);
ByteSet subtract(const ByteSet& a, const ByteSet& b);

/// `set` with those of its small gaps that `filler` covers: up to a sixteenth of the range before,
/// or of so many bytes.
ByteSet fillGaps(const ByteSet& set, const ByteSet& filler, std::uint64_t upTo = 0);

/// The set moved up by `offset` bytes.
ByteSet shift(const ByteSet& set, std::uint64_t offset);

/// "[0,16) [32,48)", or "{}" for the empty set.
std::string toString(const ByteSet& set);

} // namespace libsplit
