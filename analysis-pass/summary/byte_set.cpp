#include "analysis-pass/summary/byte_set.h"

#include <algorithm>

namespace libsplit {

namespace {

/// Appends `range`, which does not begin before the last one.
void append(std::vector<ByteRange>& ranges, ByteRange range) {
  if (ranges.empty() || range.begin > ranges.back().end)
    ranges.push_back(range);
  else
    ranges.back().end = std::max(ranges.back().end, range.end);
}

using RangeIterator = std::vector<ByteRange>::const_iterator;

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

ByteSet::ByteSet(std::vector<ByteRange> ranges) {
  if (!ranges.empty())
    ranges_ = std::make_shared<std::vector<ByteRange>>(std::move(ranges));
}

const std::vector<ByteRange>& ByteSet::ranges() const {
  static const std::vector<ByteRange> none;
  return ranges_ ? *ranges_ : none;
}

void ByteSet::add(ByteRange range) {
  if (range.begin >= range.end)
    return;
  if (!ranges_)
    ranges_ = std::make_shared<std::vector<ByteRange>>();
  else if (ranges_.use_count() > 1)
    ranges_ = std::make_shared<std::vector<ByteRange>>(*ranges_);
  std::vector<ByteRange>& ranges = *ranges_;
  if (ranges.empty() || range.begin >= ranges.back().begin)
    return append(ranges, range);
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
}

void ByteSet::uniteWith(const ByteSet& other) {
  const bool comesAfter =
      !empty() && !other.empty() && other.ranges().front().begin >= ranges_->back().begin;
  if (!comesAfter || ranges_.use_count() > 1) {
    *this = unite(*this, other);
    return;
  }
  for (const ByteRange& range : other.ranges())
    append(*ranges_, range);
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
  return {ranges_->front().begin, ranges_->back().end};
}

bool ByteSet::contains(const ByteSet& other) const {
  if (isSame(other))
    return true;
  const std::vector<ByteRange>& all = ranges();
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
  const std::vector<ByteRange>&all = ranges(), &others = other.ranges();
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
  std::vector<ByteRange> result;
  result.reserve(a.ranges().size() + b.ranges().size());
  auto i = a.ranges().begin();
  auto j = b.ranges().begin();
  while (i != a.ranges().end() || j != b.ranges().end()) {
    const bool takeA = j == b.ranges().end() || (i != a.ranges().end() && i->begin < j->begin);
    append(result, takeA ? *i++ : *j++);
  }
  return ByteSet(std::move(result));
}

ByteSet intersect(const ByteSet& a, const ByteSet& b) {
  if (a.isSame(b))
    return a;
  std::vector<ByteRange> result;
  auto i = a.ranges().begin();
  auto j = b.ranges().begin();
  while (i != a.ranges().end() && j != b.ranges().end()) {
    if (i->end <= j->begin) {
      i = firstEndingAt(i, a.ranges().end(), j->begin + 1);
      continue;
    }
    if (j->end <= i->begin) {
      j = firstEndingAt(j, b.ranges().end(), i->begin + 1);
      continue;
    }
    result.push_back({std::max(i->begin, j->begin), std::min(i->end, j->end)});
    if (i->end < j->end)
      ++i;
    else
      ++j;
  }
  return ByteSet(std::move(result));
}

ByteSet subtract(const ByteSet& a, const ByteSet& b) {
  if (b.empty())
    return a;
  if (a.isSame(b))
    return {};
  std::vector<ByteRange> result;
  auto hole = b.ranges().begin();
  for (const ByteRange& r : a.ranges()) {
    std::uint64_t begin = r.begin;
    while (hole != b.ranges().end() && hole->end <= begin)
      ++hole;
    for (auto h = hole; h != b.ranges().end() && h->begin < r.end; ++h) {
      if (begin < h->begin)
        result.push_back({begin, h->begin});
      begin = std::max(begin, h->end);
      if (begin >= r.end)
        break;
      hole = h;
    }
    if (begin < r.end)
      result.push_back({begin, r.end});
  }
  return ByteSet(std::move(result));
}

ByteSet fillGaps(const ByteSet& set, const ByteSet& filler) {
  ByteSet small;
  const auto& ranges = set.ranges();
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const ByteRange gap{ranges[i - 1].end, ranges[i].begin};
    if (16 * gap.size() <= ranges[i - 1].size())
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
