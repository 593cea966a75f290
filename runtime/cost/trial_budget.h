// What it may cost to find out about launches of one kernel that turn out to be too short to split.
// Pure.
//
// A launch of 10 µs can take 500 µs to look at: a key, a plan, a way through a lane to be timed.
// One such look is soon forgotten, but where each of thousands of launches has another shape, each
// asks for one. So looks at short launches may take a hundredth of the time that has passed since
// the kernel's first, and a little in the beginning. What has seemed short for long is ever less
// likely to be anything else: after a second the time counts by its root. Beyond that the kernel
// rests: its launches go to the driver as they came. Long launches among them earn the next looks
// quickly, and larger NDRanges than those that were short are looked at in any case.
//
// Worked example: launches of 10 µs, looks of 500 µs, and 3 ms in the beginning. Six launches are
// looked at; after that one in 50 ms, which is one of 5,000; after a minute one in 0.8 s.
#pragma once

#include <algorithm>
#include <chrono>

namespace libsplit::runtime {

/// Launches at home that pay for trying again what an earlier run found to be slower: of what they
/// take, the trial loses a hundredth. `gain`: at home over split, as measured then; 0: not known.
inline double launchesBeforeTrial(double gain) {
  constexpr double trial = 3; // launches, until it is plain that it loses
  return gain > 0 && gain < 1 ? trial * (1 / gain - 1) / 0.01 : 0;
}

class TrialBudget {
public:
  using Clock = std::chrono::steady_clock;

  /// Of what passes.
  static constexpr double part = 0.01;
  /// … in the first so many seconds.
  static constexpr double whole = 1;
  /// Short launches that may be spent in the beginning.
  static constexpr double headStart = 10;
  /// A launch with so many times the work-items of the largest short one may be long.
  static constexpr double lengthMargin = 4;

  /// Looking at a launch of `items` work-items took `seconds`, and showed that it takes less than
  /// `shortSeconds`.
  void spend(double seconds, double items, double shortSeconds, Clock::time_point now) {
    if (!(shortSeconds > 0) || !(seconds > 0))
      return;
    if (spent_ == 0)
      first_ = now;
    spent_ += seconds;
    largest_ = std::max(largest_, items);
    const double owed = std::max(0.0, spent_ - headStart * shortSeconds) / part;
    until_ = first_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                          owed <= whole ? owed : std::min(owed * owed / whole, forEver)));
  }
  /// Whether a launch of `items` work-items is not to be looked at.
  bool rests(double items, Clock::time_point now) const {
    return spent_ > 0 && now < until_ && items < lengthMargin * largest_;
  }

private:
  static constexpr double forEver = 1e9; ///< seconds, that a clock can tell

  double spent_ = 0;
  double largest_ = 0; ///< work-items of a short launch
  Clock::time_point first_{}, until_{};
};

} // namespace libsplit::runtime
