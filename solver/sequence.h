// Launches that repeat, and shares that suit all of them together.
//
// A program that alternates kernels over the same buffers pays twice for cuts that differ: what one
// kernel wrote on one device, the next needs on another, and the other way round in the next cycle.
// Balanced one by one, a stencil on a fast GPU and a copy that is bound by memory would be cut at
// 0.8 and at 0.6, and a fifth of the grid would travel in every cycle. So the cycle is found, and
// its cuts are chosen jointly:
//
//     minimise  sum over kernels k of  max over devices d of
//         fixed_kd + cost_kd * work_k(c_k,d-1 .. c_k,d)                        (computing)
//       + sum over links e -> k of  move_ek * |[c_k,d-1, c_k,d) \ [c_e,d-1, c_e,d)|   (moving)
//
// over cuts 0 = c_0 <= .. <= c_n = 1 of each kernel; a link says that k reads at a position what e
// wrote at the same. With work in proportion to position this is a linear programme; with profiles,
// and with fixed costs that go when a device gets nothing, it is not quite. It is solved by descent
// from several starts (each kernel's own balance, common cuts, single devices): over single cuts,
// over all kernels' cuts together, which keeps what is aligned aligned, and along lines in
// arbitrary but reproducible directions. The simulator's tests hold it against brute force.
//
// Not thread-safe. CycleDetector allocates nothing after construction.
#pragma once

#include "solver/share_solver.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace libsplit::solver {

/// Finds the shortest period with which launches repeat. Once it is found it stays until a launch
/// is not like the one a period before: what repeats within it, the sweeps of a smoother in a
/// multigrid cycle, does not end it.
class CycleDetector {
public:
  static constexpr std::size_t longest = 512;
  static constexpr std::size_t repeats = 3; ///< a cycle counts once it was seen so often

  CycleDetector() : ids_(capacity) {}

  /// Notes the next launch by what identifies it. The length of the cycle that the last launches
  /// make, 0 if they make none. Takes one comparison where they make one, else one or more for each
  /// period.
  std::size_t next(std::uint64_t id);
  /// What was noted `before` launches before the last, at most `longest` - 1.
  std::uint64_t past(std::size_t before) const { return ids_[(count_ - 1 - before) % capacity]; }

private:
  static constexpr std::size_t capacity = std::bit_ceil(repeats * longest);
  bool repeatsAfter(std::size_t period) const;

  std::vector<std::uint64_t> ids_; ///< a ring
  std::uint64_t count_ = 0;
  std::size_t period_ = 0; ///< of the last launches
};

struct CycleLink {
  std::size_t from = 0;      ///< the kernel that wrote
  std::size_t to = 0;        ///< the kernel that reads
  double secondsPerUnit = 0; ///< to move all of it
};

struct CycleShares {
  std::vector<std::vector<double>> shares; ///< by kernel and device
  double seconds = 0;                      ///< of one cycle, as predicted
};

/// What one cycle with `shares` (by kernel and device) would take.
double cycleSeconds(std::span<const LoadProfile> kernels, std::span<const CycleLink> links,
                    const std::vector<std::vector<double>>& shares);

/// Shares for all kernels of a cycle. `own`: the shares that suit each by itself. All profiles have
/// the same devices, in order. The answer is never predicted to be slower than `own`.
CycleShares balanceCycle(std::span<const LoadProfile> kernels, std::span<const CycleLink> links,
                         const std::vector<std::vector<double>>& own);

} // namespace libsplit::solver
