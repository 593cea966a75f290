// What launches of one kernel under one key cost, device by device, and how sure that is.
//
//     seconds(d, [b, e)) = fixed_d + whole_d * company_d * ∫_[b,e) density
//
// over positions 0..1 of the split dimension: a fixed cost of each launch, the work of all groups,
// a factor where others work in the same memory at the same time, and how the work lies over the
// groups (32 bins). What must be moved first comes on top; it is counted in bytes by whoever knows
// them, not here.
//
// All but the fixed costs are logarithms in one state x, with a mean and a covariance: 3 n + 32
// numbers for n devices. A timing is one observation of log seconds, whose derivative is taken at
// the mean, and updates both by the extended Kalman filter. There is one estimator, and what used
// to be rules of their own are assumptions of it:
//
//   - The prior: whole_d = whole * ratio_d, where nobody knows `whole` and `ratio_d` is known to a
//     few percent for devices alike, from an earlier run or other kernels, and to a factor of ten
//     from what drivers tell. The density is smooth: its bins are correlated over a third of the
//     range. So "this device is slow" and "this device has the heavy rows" share what a first
//     timing shows by how likely each was.
//   - Timings have heavy tails (Student's t): what is far off counts little.
//   - Unless the next of that device is as far off on the same side. Then something has changed,
//     and the covariance is widened (the forgetting step): that of the device's speed, or that of
//     what company costs it where it has hardly had any yet.
//   - A device's first timing may hold what its driver compiled: it is believed to a factor of two.
//   - Everything drifts a little from launch to launch. How much is learnt: timings that are off to
//     the same side again and again ask for more (`pace_`), those that alternate for less.
//
// Worked example. Two devices said to be alike; home took 36 ms, its first launch. whole = 36 ms
// to a factor of two, both alike to 10 %: cut in halves. Home takes 18 ms, the other 27. Either it
// is slower by a half or its groups are heavier; devices alike differ by 10 %, densities of two
// halves by more, and so most of it becomes density. The next cut gives that device less, and
// tells.
//
// Not thread-safe. Nothing is allocated after construction.
#pragma once

#include "solver/simplex.h"
#include "tests/simulator/model/launch_choice.h"

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace libsplit::simulator {

using solver::Matrix;
using solver::Vector;

/// A timing: groups at positions [begin, end) on a device.
struct Timing {
  std::size_t device = 0;
  double begin = 0;
  double end = 0;
  double seconds = 0;      ///< without moving
  bool hasCompany = false; ///< others worked in the same memory
  bool isFirst = false;    ///< of this device: its driver may have compiled
  bool isChunk = false;    ///< one of several of a launch: says nothing of change
};

class CostModel {
public:
  static constexpr Eigen::Index bins = 32;

  /// `wholeSeconds`: of a launch on the first known device, as expected, known to a factor
  /// exp(`deviation`).
  CostModel(std::span<const DevicePrior> devices, double wholeSeconds, double deviation);

  /// Takes the timings of one launch. Those that are not positive and finite are ignored.
  void learn(std::span<const Timing> timings);
  /// So many launches went by unseen: everything may have drifted.
  void age(double launches);

  /// Expected seconds of groups at [begin, end); 0 for none.
  double seconds(std::size_t device, double begin, double end, bool hasCompany) const;
  /// How uncertain the logarithm of that is.
  double deviation(std::size_t device, double begin, double end, bool hasCompany) const;
  /// How uncertain the ratio of the seconds of two pieces is, as logarithm: what is uncertain in
  /// both alike does not count.
  struct PieceOf {
    std::size_t device = 0;
    double begin = 0, end = 0;
    bool hasCompany = false;
  };
  double deviationOfRatio(const PieceOf& a, const PieceOf& b) const;
  /// By piece: how uncertain it is beside the others. What is uncertain in all alike does not
  /// count: not knowing how long a launch takes is no reason to trust one device more than another.
  void deviationsApart(std::span<const PieceOf> pieces, std::span<double> deviations) const;
  /// The furthest end for which `factor` * seconds <= limit; `begin` if none is.
  double reach(std::size_t device, double begin, double limit, bool hasCompany,
               double factor) const;

  bool hasSeen(std::size_t device) const { return seen_[device] > 0; }
  double noise() const { return noise_; }
  std::size_t devices() const { return static_cast<std::size_t>(n_); }
  void describe(LoadProfile& profile) const;

private:
  Eigen::Index wholeOf(std::size_t d) const { return static_cast<Eigen::Index>(d); }
  Eigen::Index fixedOf(std::size_t d) const { return n_ + static_cast<Eigen::Index>(d); }
  Eigen::Index companyOf(std::size_t d) const { return 2 * n_ + static_cast<Eigen::Index>(d); }
  Eigen::Index density() const { return 3 * n_; }

  double fixedSeconds(std::size_t d) const { return std::max(1e-7, mean_[fixedOf(d)]); }
  double work(double begin, double end) const;
  /// log seconds at the mean, and its derivative.
  double observe(const PieceOf& piece, Vector& derivative) const;
  void update(const Timing& timing);
  void forget(const Timing& timing);
  void refreshDensity();

  Eigen::Index n_;
  Vector mean_;
  Matrix covariance_;
  Matrix smooth_; ///< of the densities' prior
  std::array<double, bins> density_{};
  std::array<double, bins + 1> sums_{}; ///< of it, up to each bin
  std::vector<std::uint64_t> seen_, seenInCompany_;
  std::vector<double> lastOff_; ///< by device: how far its last timing was off, in deviations
  double noise_;
  double pace_ = 1; ///< of drift, times what is usual
  Vector most_;     ///< that each variance may grow to
  mutable Vector derivative_, other_, gain_;
  mutable Matrix derivatives_, products_, shared_;
};

} // namespace libsplit::simulator
