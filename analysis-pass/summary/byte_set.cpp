#include "analysis-pass/summary/byte_set.h"

#include <algorithm>
#include <utility>

namespace libsplit {

namespace {

/// Appends `range`, which does not begin before the last one.
void appendTo(std::vector<ByteRange>& ranges, ByteRange range) {
  if (range.begin > ranges.back().end)
    ranges.push_back(range);
  else
    ranges.back().end = std::max(ranges.back().end, range.end);
}

using RangeIterator = std::span<const ByteRange>::iterator;

/// The first of ascending ranges that ends at `end` or behind it. Looks ever farther ahead, so that
/// few ranges are found among many in little time, and many among many in as long as there are.
RangeIterator firstEndingAt(RangeIterator first, RangeIterator last, std::uint64_t end) {
  std::ptrdiff_t step = 1;
  auto isBefore = [&](const ByteRange& range) { return range.end < end; };
  while (last - first > step && isBefore(first[step])) {
    first += step;
    step *= 2;
  }
  return std::partition_point(first, first + std::min(step + 1, last - first), isBefore);
}

} // namespace

void ByteSet::append(ByteRange range, std::size_t expected) {
  if (several_) {
    appendTo(*several_, range);
  } else if (one_.empty()) {
    one_ = range;
  } else if (range.begin <= one_.end) {
    one_.end = std::max(one_.end, range.end);
  } else {
    auto both = std::make_shared<std::vector<ByteRange>>();
    both->reserve(std::max<std::size_t>(expected, 2));
    both->assign({one_, range});
    several_ = std::move(both);
    one_ = {};
  }
}

void ByteSet::append(std::span<const ByteRange> ranges) {
  for (const ByteRange& range : ranges)
    append(range, ranges.size() + 1);
}

void ByteSet::add(ByteRange range) {
  if (range.begin >= range.end)
    return;
  if (!several_ && range.begin < one_.begin) {
    ByteSet ascending(range);
    ascending.append(one_);
    *this = std::move(ascending);
    return;
  }
  if (!several_)
    return append(range);
  if (several_.use_count() > 1)
    several_ = std::make_shared<std::vector<ByteRange>>(*several_);
  if (range.begin >= several_->back().begin)
    return appendTo(*several_, range);
  std::vector<ByteRange>& ranges = *several_;
  // [first, last) are the ranges that overlap or touch the new one.
  auto first =
      std::lower_bound(ranges.begin(), ranges.end(), range.begin,
                       [](const ByteRange& r, std::uint64_t begin) { return r.end < begin; });
  auto last = std::upper_bound(first, ranges.end(), range.end,
                               [](std::uint64_t end, const ByteRange& r) { return end < r.begin; });
  if (first == last) {
    ranges.insert(first, range);
    return;
  }
  first->begin = std::min(first->begin, range.begin);
  first->end = std::max((last - 1)->end, range.end);
  ranges.erase(first + 1, last);
  if (ranges.size() == 1) {
    one_ = ranges.front();
    several_ = nullptr;
  }
}

void ByteSet::uniteWith(const ByteSet& other) {
  const bool comesAfter =
      !empty() && !other.empty() && other.ranges().front().begin >= ranges().back().begin;
  if (comesAfter && several_.use_count() <= 1)
    append(other.ranges());
  else
    *this = unite(*this, other);
}

std::uint64_t ByteSet::size() const {
  std::uint64_t total = 0;
  for (const ByteRange& r : ranges())
    total += r.size();
  return total;
}

ByteRange ByteSet::hull() const {
  if (empty())
    return {};
  return {ranges().front().begin, ranges().back().end};
}

bool ByteSet::contains(const ByteSet& other) const {
  if (isSame(other))
    return true;
  const std::span<const ByteRange> all = ranges();
  auto mine = all.begin();
  for (const ByteRange& r : other.ranges()) {
    mine = firstEndingAt(mine, all.end(), r.end);
    if (mine == all.end() || mine->begin > r.begin)
      return false;
  }
  return true;
}

bool ByteSet::intersects(const ByteSet& other) const {
  const ByteRange mine = hull(), theirs = other.hull();
  if (mine.end <= theirs.begin || theirs.end <= mine.begin)
    return false;
  const std::span<const ByteRange> all = ranges(), others = other.ranges();
  auto a = all.begin();
  auto b = others.begin();
  while (a != all.end() && b != others.end()) {
    if (a->end <= b->begin)
      a = firstEndingAt(a, all.end(), b->begin + 1);
    else if (b->end <= a->begin)
      b = firstEndingAt(b, others.end(), a->begin + 1);
    else
      return true;
  }
  return false;
}

ByteSet unite(const ByteSet& a, const ByteSet& b) {
  if (a.empty() || a.isSame(b))
    return b;
  if (b.empty())
    return a;
  const std::span<const ByteRange> as = a.ranges(), bs = b.ranges();
  ByteSet result;
  auto i = as.begin();
  auto j = bs.begin();
  while (i != as.end() || j != bs.end()) {
    const bool takeA = j == bs.end() || (i != as.end() && i->begin < j->begin);
    result.append(takeA ? *i++ : *j++, as.size() + bs.size());
  }
  return result;
}

ByteSet intersect(const ByteSet& a, const ByteSet& b) {
  if (a.isSame(b))
    return a;
  const std::span<const ByteRange> as = a.ranges(), bs = b.ranges();
  ByteSet result;
  auto i = as.begin();
  auto j = bs.begin();
  while (i != as.end() && j != bs.end()) {
    if (i->end <= j->begin) {
      i = firstEndingAt(i, as.end(), j->begin + 1);
      continue;
    }
    if (j->end <= i->begin) {
      j = firstEndingAt(j, bs.end(), i->begin + 1);
      continue;
    }
    result.append({std::max(i->begin, j->begin), std::min(i->end, j->end)});
    if (i->end < j->end)
      ++i;
    else
      ++j;
  }
  return result;
}

ByteSet subtract(const ByteSet& a, const ByteSet& b) {
  if (b.empty())
    return a;
  if (a.isSame(b))
    return {};
  const std::span<const ByteRange> holes = b.ranges();
  ByteSet result;
  auto hole = holes.begin();
  for (const ByteRange& r : a.ranges()) {
    std::uint64_t begin = r.begin;
    while (hole != holes.end() && hole->end <= begin)
      ++hole;
    for (auto h = hole; h != holes.end() && h->begin < r.end; ++h) {
      if (begin < h->begin)
        result.append({begin, h->begin});
      begin = std::max(begin, h->end);
      if (begin >= r.end)
        break;
      hole = h;
    }
    if (begin < r.end)
      result.append({begin, r.end});
  }
  return result;
}

ByteSet fillGaps(const ByteSet& set, const ByteSet& filler, std::uint64_t upTo) {
  ByteSet small;
  const auto ranges = set.ranges();
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const ByteRange gap{ranges[i - 1].end, ranges[i].begin};
    if (gap.size() <= std::max(ranges[i - 1].size() / 16, upTo))
      small.add(gap);
  }
  return unite(set, intersect(small, filler));
}

ByteSet shift(const ByteSet& set, std::uint64_t offset) {
  ByteSet result;
  for (const ByteRange& r : set.ranges())
    result.add({r.begin + offset, r.end + offset});
  return result;
}

std::string toString(const ByteSet& set) {
  if (set.empty())
    return "{}";
  std::string text;
  for (const ByteRange& r : set.ranges()) {
    if (!text.empty())
      text += ' ';
    text += '[' + std::to_string(r.begin) + ',' + std::to_string(r.end) + ')';
  }
  return text;
}

} // namespace libsplit
