#include "runtime/plan/strided_rows.h"

#include <algorithm>
#include <span>

namespace libsplit::runtime {

namespace {

constexpr std::size_t mostTurns = 4; // sequences that may take turns
/// Fewer rows are not worth looking for.
constexpr std::uint64_t leastRows = 3;

/// The longest sequence that begins with range `from` and goes on with each `turns`-th.
Rows rowsFrom(std::span<const ByteRange> ranges, std::size_t from, std::size_t turns) {
  Rows rows{ranges[from].begin, ranges[from].size(), 0, 1};
  if (from + turns >= ranges.size())
    return rows;
  rows.pitch = ranges[from + turns].begin - rows.first;
  for (std::size_t i = from + turns; i < ranges.size(); i += turns, ++rows.count)
    if (ranges[i].size() != rows.length || ranges[i].begin != rows.first + rows.pitch * rows.count)
      break;
  return rows;
}

} // namespace

std::vector<Rows> asRows(const ByteSet& bytes) {
  const std::span<const ByteRange> ranges = bytes.ranges();
  std::vector<Rows> all;
  std::vector<bool> taken(ranges.size(), false);
  for (std::size_t from = 0; from < ranges.size(); ++from) {
    if (taken[from])
      continue;
    Rows best{ranges[from].begin, ranges[from].size(), 0, 1};
    std::size_t turns = 1;
    for (std::size_t each = 1; each <= mostTurns; ++each) {
      Rows rows = rowsFrom(ranges, from, each);
      // What an earlier sequence took ends this one.
      for (std::uint64_t k = 0; k < rows.count; ++k)
        if (taken[from + k * each])
          rows.count = k;
      if (rows.count >= leastRows && rows.count > best.count) {
        best = rows;
        turns = each;
      }
    }
    for (std::uint64_t k = 0; k < best.count; ++k)
      taken[from + k * turns] = true;
    all.push_back(best);
  }
  return all;
}

std::vector<Rows> asRows(const ByteSet& pixels, const ImageLayout& layout) {
  std::vector<Rows> all;
  // A few rectangles may take turns, as in rows of which the middle is left out.
  auto goesOn = [&](const Rows& part) {
    const std::uint64_t row = part.first / layout.rowBytes;
    for (std::size_t back = 1; back <= std::min(mostTurns, all.size()); ++back) {
      Rows& above = all[all.size() - back];
      const std::uint64_t next = above.first + above.count * layout.rowBytes;
      if (above.length != part.length || next != part.first || row % layout.rows == 0)
        continue;
      above.pitch = layout.rowBytes;
      ++above.count;
      return true;
    }
    return false;
  };
  for (const ByteRange& range : pixels.ranges())
    for (std::uint64_t at = range.begin; at < range.end;) {
      const std::uint64_t row = at / layout.rowBytes, column = at % layout.rowBytes;
      const std::uint64_t whole = column > 0 ? 0
                                             : std::min((range.end - at) / layout.rowBytes,
                                                        layout.rows - row % layout.rows);
      Rows rows{at, layout.rowBytes, whole > 1 ? layout.rowBytes : 0, whole};
      if (whole == 0)
        rows = {at, std::min(range.end - at, layout.rowBytes - column), 0, 1};
      at += rows.length * rows.count;
      if (whole > 0 || layout.isLayered || !goesOn(rows))
        all.push_back(rows);
    }
  return all;
}

std::vector<Chunk> inChunks(const std::vector<Rows>& rows, std::uint64_t most) {
  std::vector<Rows> pieces;
  for (const Rows& each : rows) {
    if (each.length <= most) {
      pieces.push_back(each);
      continue;
    }
    for (std::uint64_t k = 0; k < each.count; ++k)
      for (std::uint64_t at = 0; at < each.length; at += most)
        pieces.push_back(
            {each.first + k * each.pitch + at, std::min(most, each.length - at), 0, 1});
  }
  std::vector<Chunk> chunks;
  for (Rows left : pieces)
    while (left.count > 0) {
      if (chunks.empty() || most - chunks.back().size < left.length)
        chunks.emplace_back();
      Chunk& chunk = chunks.back();
      const std::uint64_t fit = std::min(left.count, (most - chunk.size) / left.length);
      chunk.rows.push_back({left.first, left.length, fit > 1 ? left.pitch : 0, fit});
      chunk.size += fit * left.length;
      left.first += fit * left.pitch;
      left.count -= fit;
    }
  return chunks;
}

} // namespace libsplit::runtime
