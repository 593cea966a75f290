// Strides are taken from the smallest up. While a step is no longer than the run made so far, runs
// touch or overlap and are one longer run. From the first gap on, steps count rows; rows of rows
// that continue each other with one step are one sequence of rows.
//
// Worked example: 4 bytes at 400*i + 4*j, 0 <= i < 10, 2 <= j < 8. Base 8; the step 4 joins into a
// run of 24; the step 400 leaves gaps: ten rows [8, 32), [408, 432), ...
#include "analysis-pass/summary/image.h"

#include <algorithm>
#include <compare>
#include <vector>

namespace libsplit {

Interval StridedRuns::hull() const {
  Int last = libsplit::add(base, length - 1);
  for (std::size_t i = 0; i < strideCount; ++i)
    last = libsplit::add(last, multiply(strides[i].step, strides[i].count - 1));
  return {base, last};
}

void StridedRuns::simplify() {
  Stride* const first = strides;
  std::sort(first, first + strideCount,
            [](const Stride& a, const Stride& b) { return a.step < b.step; });
  std::size_t rows = 0;
  for (std::size_t i = 0; i < strideCount; ++i) {
    const Stride s = first[i];
    if (s.count == 1)
      continue;
    if (rows == 0 && s.step <= length) {
      length += s.step * (s.count - 1);
      continue;
    }
    if (rows > 0) {
      Stride& inner = first[rows - 1];
      if (s.step % inner.step == 0 && s.step / inner.step <= inner.count) {
        inner.count += s.step / inner.step * (s.count - 1);
        continue;
      }
    }
    first[rows++] = s;
  }
  strideCount = rows;
}

namespace {

std::strong_ordering compareStrides(const StridedRuns& a, const StridedRuns& b) {
  return std::lexicographical_compare_three_way(
      a.strides, a.strides + a.strideCount, b.strides, b.strides + b.strideCount,
      [](const Stride& x, const Stride& y) {
        return x.step != y.step ? x.step <=> y.step : x.count <=> y.count;
      });
}

} // namespace

void coalesce(std::vector<StridedRuns>& runs) {
  for (StridedRuns& each : runs)
    each.simplify();
  for (std::size_t before = runs.size() + 1; runs.size() < before;) {
    before = runs.size();
    std::sort(runs.begin(), runs.end(), [](const StridedRuns& a, const StridedRuns& b) {
      const auto strides = compareStrides(a, b);
      return strides != 0 ? strides < 0 : a.base < b.base;
    });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < runs.size(); ++i) {
      StridedRuns& last = runs[kept];
      const StridedRuns& next = runs[i];
      if (compareStrides(last, next) == 0 && next.base <= libsplit::add(last.base, last.length))
        last.length = std::max(last.length, next.base - last.base + next.length);
      else if (++kept < i)
        runs[kept] = next;
    }
    runs.resize(std::min(runs.size(), kept + 1));
    for (StridedRuns& each : runs)
      each.simplify();
  }
}

ByteRange cut(Interval bytes, std::uint64_t bufferSize) {
  const Int begin = std::clamp(bytes.low, Int{0}, Int{bufferSize});
  const Int end = std::clamp(bytes.high + 1, begin, Int{bufferSize});
  return {static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)};
}

namespace {

/// Calls `body(begin)` for every row, the last stride slowest.
template <typename Body> void forEachRow(const StridedRuns& runs, Body body) {
  Int counters[maxStrides] = {};
  Int begin = runs.base;
  while (true) {
    body(begin);
    std::size_t i = 0;
    for (; i < runs.strideCount; ++i) {
      if (++counters[i] < runs.strides[i].count) {
        begin += runs.strides[i].step;
        break;
      }
      begin -= runs.strides[i].step * (runs.strides[i].count - 1);
      counters[i] = 0;
    }
    if (i == runs.strideCount)
      return;
  }
}

} // namespace

bool addRuns(ByteSet& bytes, StridedRuns runs, std::size_t maxRuns) {
  const Interval whole = runs.hull();
  if (runs.length <= 0 || whole.high < 0 || whole.low >= Int{runs.bufferSize})
    return true;
  if (isInfinite(whole.low) || isInfinite(whole.high)) {
    bytes.uniteWith(ByteSet(cut(whole, runs.bufferSize)));
    return false;
  }
  runs.simplify();

  Int count = 1;
  Int extent = runs.length;
  bool ascending = true;
  for (std::size_t i = 0; i < runs.strideCount; ++i) {
    const Stride& s = runs.strides[i];
    ascending = ascending && s.step >= extent;
    extent += s.step * (s.count - 1);
    count = multiply(count, s.count);
  }
  if (count > Int{maxRuns}) {
    bytes.uniteWith(ByteSet(cut(whole, runs.bufferSize)));
    return false;
  }

  auto cutRow = [&](Int begin) { return cut({begin, begin + runs.length - 1}, runs.bufferSize); };
  if (count == 1) {
    bytes.add(cutRow(runs.base));
    return true;
  }
  ByteSet fresh;
  ByteSet& target = bytes.empty() ? bytes : fresh;
  if (ascending) {
    forEachRow(runs, [&](Int begin) { target.add(cutRow(begin)); });
  } else {
    std::vector<ByteRange> rows;
    rows.reserve(static_cast<std::size_t>(count));
    forEachRow(runs, [&](Int begin) { rows.push_back(cutRow(begin)); });
    std::sort(rows.begin(), rows.end(),
              [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
    for (const ByteRange& row : rows)
      target.add(row);
  }
  if (&target == &fresh)
    bytes.uniteWith(fresh);
  return true;
}

} // namespace libsplit
