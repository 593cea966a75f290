// By how much later than the first each device begins with its part of a launch. Pure.
//
// Pieces are handed to their drivers one after the other, which takes some microseconds each. Were
// two devices that are alike given half of a launch each, the second would end that much later, and
// with it what the program waits for. So what a device takes is counted from when the first one
// began, and who is handed its part later gets less of it.
//
// That goes for launches that find their devices idle. Behind others a device goes on when it is
// done with those, and a piece that waits for bytes begins when they are there.
//
// Worked example: two devices would each do a launch alone in 400 us, and the second is handed its
// part 20 us after the first. Halves end after 220 us; 210 us of work for the first and 190 us for
// the second end after 210 us.
#pragma once

#include "runtime/cost/latest.h"

#include "solver/share_solver.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace libsplit::runtime {

/// Of one kind of launches. Not thread-safe.
class StartSkew {
public:
  /// A device was handed its part of a launch `seconds` after the first one.
  void note(std::size_t device, double seconds) {
    delays_.resize(std::max(delays_.size(), device + 1));
    delays_[device].note(std::max(seconds, 0.0));
  }
  /// The same of a launch whose `sample` counts from when the device began: from here on from when
  /// the first one did.
  void note(std::size_t device, double seconds, solver::DeviceSample& sample) {
    note(device, seconds);
    sample.startSeconds = of(device);
    sample.seconds += sample.startSeconds;
  }
  /// Seconds; 0 until that is known. What held one launch up, such as a driver that compiles, is
  /// none of it.
  double of(std::size_t device) const {
    constexpr std::size_t least = 2;
    constexpr double usual = 0.25;
    return device < delays_.size() && delays_[device].known().size() >= least
               ? delays_[device].quantile(usual)
               : 0;
  }

private:
  std::vector<Latest<16>> delays_; ///< by device
};

} // namespace libsplit::runtime
