#include "analysis-pass/summary/byte_set.h"

#include <algorithm>

namespace libsplit {

void ByteSet::add(ByteRange range) {
  if (range.begin >= range.end)
    return;
  if (ranges_.empty() || range.begin > ranges_.back().end) {
    ranges_.push_back(range);
    return;
  }
  if (range.begin >= ranges_.back().begin) {
    ranges_.back().end = std::max(ranges_.back().end, range.end);
    return;
  }
  // [first, last) are the ranges that overlap or touch the new one.
  auto first =
      std::lower_bound(ranges_.begin(), ranges_.end(), range.begin,
                       [](const ByteRange& r, std::uint64_t begin) { return r.end < begin; });
  auto last = std::upper_bound(first, ranges_.end(), range.end,
                               [](std::uint64_t end, const ByteRange& r) { return end < r.begin; });
  if (first == last) {
    ranges_.insert(first, range);
    return;
  }
  first->begin = std::min(first->begin, range.begin);
  first->end = std::max((last - 1)->end, range.end);
  ranges_.erase(first + 1, last);
}

std::uint64_t ByteSet::size() const {
  std::uint64_t total = 0;
  for (const ByteRange& r : ranges_)
    total += r.size();
  return total;
}

ByteRange ByteSet::hull() const {
  if (ranges_.empty())
    return {};
  return {ranges_.front().begin, ranges_.back().end};
}

bool ByteSet::contains(const ByteSet& other) const {
  auto mine = ranges_.begin();
  for (const ByteRange& r : other.ranges_) {
    while (mine != ranges_.end() && mine->end < r.end)
      ++mine;
    if (mine == ranges_.end() || mine->begin > r.begin)
      return false;
  }
  return true;
}

bool ByteSet::intersects(const ByteSet& other) const {
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    if (a->end <= b->begin)
      ++a;
    else if (b->end <= a->begin)
      ++b;
    else
      return true;
  }
  return false;
}

ByteSet unite(const ByteSet& a, const ByteSet& b) {
  if (a.empty())
    return b;
  if (b.empty())
    return a;
  ByteSet result;
  result.ranges_.reserve(a.ranges_.size() + b.ranges_.size());
  auto i = a.ranges_.begin();
  auto j = b.ranges_.begin();
  while (i != a.ranges_.end() || j != b.ranges_.end()) {
    const bool takeA = j == b.ranges_.end() || (i != a.ranges_.end() && i->begin < j->begin);
    result.add(takeA ? *i++ : *j++); // ascending begins: add only ever touches the last range
  }
  return result;
}

ByteSet intersect(const ByteSet& a, const ByteSet& b) {
  ByteSet result;
  auto i = a.ranges_.begin();
  auto j = b.ranges_.begin();
  while (i != a.ranges_.end() && j != b.ranges_.end()) {
    const std::uint64_t begin = std::max(i->begin, j->begin);
    const std::uint64_t end = std::min(i->end, j->end);
    if (begin < end)
      result.ranges_.push_back({begin, end});
    if (i->end < j->end)
      ++i;
    else
      ++j;
  }
  return result;
}

ByteSet subtract(const ByteSet& a, const ByteSet& b) {
  ByteSet result;
  auto hole = b.ranges_.begin();
  for (const ByteRange& r : a.ranges_) {
    std::uint64_t begin = r.begin;
    while (hole != b.ranges_.end() && hole->end <= begin)
      ++hole;
    for (auto h = hole; h != b.ranges_.end() && h->begin < r.end; ++h) {
      if (begin < h->begin)
        result.ranges_.push_back({begin, h->begin});
      begin = std::max(begin, h->end);
      if (begin >= r.end)
        break;
      hole = h;
    }
    if (begin < r.end)
      result.ranges_.push_back({begin, r.end});
  }
  return result;
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
