// A launch given out piece by piece: each device asks for the next chunk when it is free. For a
// launch of which nothing is known, so that even a program's only launch ends balanced.
//
// Sizes follow factoring (Hummel, Schonberg, Flynn, "Factoring: a method for scheduling parallel
// loops", CACM 1992), weighted by the speeds that the chunks so far have shown: device i gets half
// of its part of what remains, remaining * r_i / sum r / 2. The first chunks are small, later ones
// grow at most fourfold, so that one wrong timing costs little. A device of which nothing is known
// gets one group first: it may be a thousand times slower than the others. A device that would
// finish even one unit later than all the others need for the rest gets nothing more, and one that
// is only thought to do so nothing at all.
//
// Not thread-safe: the caller serialises. next and finish allocate nothing beyond `samples`, for
// which begin reserves.
#pragma once

#include "solver/share_solver.h"

namespace libsplit::solver {

struct GroupRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool empty() const { return begin >= end; }
  std::uint64_t size() const { return end - begin; }
};

class ChunkPlan {
public:
  explicit ChunkPlan(unsigned devices);

  /// What chunks must be for a device to work well on them.
  struct Limits {
    double leastSeconds = 0; ///< of a chunk, on a device that is measured
    /// By device: groups that it runs at once; no chunk is smaller. Empty: 1.
    std::span<const std::uint64_t> fill;
  };
  /// Starts a launch of `totalGroups`, in multiples of `granularity`. `speeds`: groups per second
  /// or a multiple of it, where known (0: not known); empty: none is.
  void begin(std::uint64_t totalGroups, std::uint64_t granularity = 1,
             std::span<const double> speeds = {}, Limits limits = {0, {}});

  /// What `device`, which is free, should do now; empty: nothing more in this launch.
  GroupRange next(unsigned device);

  /// `device` did `range` in `seconds`, moving included.
  void finish(unsigned device, GroupRange range, double seconds);

  /// Gives `device` the next `groups`, or all that remain if these are fewer, whatever the plan.
  GroupRange take(unsigned device, std::uint64_t groups);

  std::uint64_t remaining() const { return total_ - given_; }
  std::span<const ChunkSample> samples() const { return samples_; }

private:
  struct Device {
    double rate = 0; // groups per second; 0 until measured
    double hint = 0;
    std::uint64_t last = 0;                   // size of its last chunk
    std::uint64_t fill = 1;                   // groups that it runs at once
    bool retired = false;                     // gets nothing more in this launch
    double smallGroups = 0, smallSeconds = 0; // of its smallest chunk
  };
  double rateOf(unsigned device) const;
  double weight(unsigned device) const;
  bool wouldBeLast(unsigned device, std::uint64_t unit) const;

  std::vector<Device> devices_;
  std::vector<ChunkSample> samples_;
  std::uint64_t total_ = 0;
  std::uint64_t given_ = 0;
  std::uint64_t granularity_ = 1;
  double leastSeconds_ = 0;
};

} // namespace libsplit::solver
