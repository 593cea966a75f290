// The shares of the devices, refined from launch to launch. Numbers in, shares out; no OpenCL.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace libsplit::solver {

/// What one device did in one launch: groups [groupBegin, groupEnd) of the split dimension in
/// `seconds`. A device without work has groupBegin == groupEnd and its seconds are ignored.
struct DeviceSample {
  std::uint64_t groupBegin = 0;
  std::uint64_t groupEnd = 0;
  double seconds = 0;
};

/// One way to find the shares that let all devices finish together. Device i is always index i.
/// Not thread-safe; observe and propose allocate nothing once warm.
class ShareSolver {
public:
  virtual ~ShareSolver() = default;

  /// Takes the timings of a finished launch, one sample per device. Absurd ones (NaN, infinite,
  /// negative, zero for a device with work) are ignored.
  virtual void observe(std::span<const DeviceSample> samples, std::uint64_t totalGroups) = 0;

  /// Shares for the next launch: one per device, finite, non-negative, summing to 1. The same
  /// observations give the same shares. Valid until the next call on this object.
  virtual std::span<const double> propose() = 0;
};

/// Whole work-groups from shares, by largest remainder (ties to the lower index): non-negative
/// multiples of `granularity` that sum to `totalGroups` (the last device with work takes what
/// granularity leaves over).
std::vector<std::uint64_t> roundToGroups(std::span<const double> shares, std::uint64_t totalGroups,
                                         std::uint64_t granularity = 1);

std::unique_ptr<ShareSolver> makeStatic(std::vector<double> shares);
std::unique_ptr<ShareSolver> makeFixedPoint(std::vector<double> initialShares);

} // namespace libsplit::solver
