// Generates the kernel that finds out where a launch's work-groups go, from the summary alone.
//
// An inspector evaluates the conditions, loops and address of one access (wantsInspection in
// inspection.h) for every work-item of a *cell*, one or a few work-groups, and leaves the least
// byte and the end of the greatest. It writes nothing else, and reads nothing but the elements that
// the expressions load, each behind a comparison with its buffer's size.
//
// The expressions mean unbounded integers; the kernel has 64 bits. So each value comes with a flag:
// false after an overflow, a division by zero, a number that does not fit the program's own type,
// an element outside of its buffer. If an address without a value is needed, nothing is known of
// the cell. A condition that fails for certain takes the item out whatever the others say, so
// `if (i < n && index[i] >= 0)` may look beyond the end of `index` without harm.
//
// What an address is affine in need not be run through: its ends tell. For out[base[block[g]] + l]
// two work-items of each group are looked at, and for matrix[rows[i] * n + k], k < n, two
// iterations. Worked example: x[p[q[i]]] of floats becomes
//
//     const N t0 = value(n[0] + at0);
//     const N t1 = value(4L);
//     const N t2 = times(t0, t1);
//     const N t3 = loadS32(b2, size2, t2);       q[i]
//     const N t4 = times(t3, t1);
//     const N t5 = loadS32(b1, size1, t4);       p[q[i]]
//     const N t6 = times(t5, t1);
//     if (!t6.ok) { bad = true; continue; }
//     low = min(low, t6.v);
//     end = max(end, t6.v + 4);
//
// An inspector of claims instead sets a bit for each place that is changed, of one argument, by all
// accesses that change it, at each work-item and each iteration that matters. Where a bit is set
// already, somebody else has that place too, and nothing is known of the cell. For y[order[i]] += …
// of floats the last lines become
//
//     if (!t6.ok || t6.v % 4 || t6.v < 0 || t6.v > claimed - 4) { bad = true; continue; }
//     for (long p = t6.v / 4; p < (t6.v + 4) / 4; ++p) bad = bad || isTaken(claims, p);
#pragma once

#include "analysis-pass/summary/evaluate.h"
#include "analysis-pass/summary/inspection.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libsplit::runtime {

/// How the work-groups of a launch are gathered into cells: `run[d]` groups each in dimension d,
/// the last of a dimension maybe fewer. Cells count dimension 0 fastest.
struct CellGrid {
  std::array<std::uint64_t, 3> run{1, 1, 1};
  std::array<std::uint64_t, 3> cells{1, 1, 1};
  std::uint64_t count() const { return cells[0] * cells[1] * cells[2]; }
  bool operator==(const CellGrid&) const = default;
};

/// A cell for each group, or as few more groups in each as keeps them under `most`.
CellGrid gridOf(const NDRange& range, std::uint64_t most = std::uint64_t{1} << 20);

/// OpenCL C 1.2 of `kernel void INSPECTOR(global const long* n, global long* out, global const
/// uchar* ...)`: `n` as `numbers` gives it, out[2 * cell] the least byte that the cell touches and
/// out[2 * cell + 1] the end of the greatest, then the `buffers` in their order. To be run by one
/// work-group for each cell, of any power of two up to `lanes`. If it makes claims, a `global
/// uint*` of `claimBytes` zeros comes behind `out`, and a cell touches nothing, or it is not known
/// what.
class InspectorSource {
public:
  /// Whether the first and the last work-item of a cell tell of all between, in a dimension.
  enum class Corners { Never, OfGroups, Always }; // OfGroups: if the cell is one group
  /// What the accesses' expressions name.
  struct Inputs {
    std::vector<unsigned> buffers; ///< parameters that are loaded from
    std::vector<Expr> scalars;     ///< by-value arguments
  };

  explicit InspectorSource(const Access& access);
  /// Whether places are distinct.
  explicit InspectorSource(const ClaimedPlaces& places);

  /// The cells that it is best run for.
  CellGrid grid(const NDRange& range) const;
  bool makesClaims() const { return claimed_.has_value(); }
  /// Of the table of claims, for a launch with these; 0 if it makes none.
  std::uint64_t claimBytes(std::span<const ArgumentValue> arguments) const;

  /// Accesses to the same bytes under the same conditions have equal texts.
  const std::string& text() const { return text_; }
  /// Parameters that are loaded from, ascending.
  const std::vector<unsigned>& buffers() const { return inputs_.buffers; }
  /// What the kernel needs to know of a launch; nothing if a number does not fit.
  std::optional<std::vector<std::int64_t>> numbers(const NDRange& range, const CellGrid& grid,
                                                   std::span<const ArgumentValue> arguments) const;
  /// Work-items that find something to do in a cell, as a power of two.
  std::size_t lanes(const NDRange& range, const CellGrid& grid) const;

private:
  void finish(const std::string& bodies);

  std::string text_;
  Inputs inputs_;
  std::array<Corners, 3> corners_{};
  std::optional<unsigned> claimed_; ///< the parameter
  std::uint64_t unit_ = 1;          ///< of claims, in bytes
};

/// A program of these: the i-th kernel is `inspect` and i.
std::string programOf(std::span<const InspectorSource> inspectors);

/// What the kernel wrote, as the first and the last byte that each cell touches: `everything` where
/// nothing is known, empty where it touches nothing.
std::vector<Interval> cellsFrom(std::span<const std::int64_t> written);

} // namespace libsplit::runtime
