// How a device that seems slow gets to take part: by rehearsing.
//
// A device of which nobody knows how fast it runs a kernel may be a thousand times slower than
// home. Given the least part of a launch that can be cut off, a whole row of work-groups, it might
// hold the launch up for seconds: a matrix product of 0.26 s on a GPU took 7.5 s when a processor
// of 32 cores was tried so. A device that its driver describes as slower than home therefore runs a
// few work-groups of a launch beside it, whose results nobody uses: home does them as well, and
// nobody waits. First one, twice, since drivers compile at the first; then eight times as many,
// until the device is full. After each it is clear what the device could do at best, if it did as
// many groups at once as its units allow in the time of the last. When even that is too little to
// be worth a cut, or when a cut's least part, or a single group, would take it longer than the
// others need for all, it stays away.
//
// Worked example. A launch of 512 rows of 512 groups takes two GPUs 0.13 s. A processor of 32 cores
// does one group in 0.4 s, the second time. All cores together do at best 80 in a second, a
// launch's 10 of 262,144: it stays away. If it did a group in 0.5 ms, that would be 64,000 in a
// second, 3 % of the work, a row in 8 ms: it rehearses 8 groups, then 32, in 0.6 ms, and joins.
//
// Pure. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace libsplit::runtime {

class Rehearsal {
public:
  /// A launch as it is without the device.
  struct Launch {
    double groups = 0;     ///< work-groups of all dimensions
    double leastPiece = 0; ///< … of the least piece that can be cut off
    double seconds = 0;
  };
  /// A part of the work that is worth a device's taking part.
  static constexpr double leastPart = 0.02;
  static constexpr std::uint64_t growth = 8;

  /// Whether a device that does `rate` groups a second is worth a cut of `launch`.
  static bool isWorthIt(double rate, const Launch& launch) {
    const double done = rate * launch.seconds; // while the others do all
    return done >= leastPart / (1 - leastPart) * launch.groups && done >= launch.leastPiece;
  }

  /// Groups that it should run beside the next launch; 0: none. `atOnce`: that its units can run at
  /// the same time.
  std::uint64_t next(const Launch& launch, std::uint64_t atOnce) const {
    if (isOver_ || isUnderWay_)
      return 0;
    if (tried_ < 2)
      return 1;
    return std::min({groups_ * growth, atOnce, static_cast<std::uint64_t>(launch.groups)});
  }
  void begins() { isUnderWay_ = true; }
  /// It ended without having shown anything.
  void breaksOff() { isUnderWay_ = false; }
  /// It ran so many. `launch`: as they are by now.
  void took(std::uint64_t groups, double seconds, const Launch& launch, std::uint64_t atOnce) {
    isUnderWay_ = false;
    if (!(seconds > 0) || ++tried_ < 2)
      return;
    groups_ = groups;
    const auto ran = static_cast<double>(groups);
    const double beside = std::max(1.0, static_cast<double>(atOnce) / ran);
    rate_ = ran / seconds * beside;
    const bool isFull = beside <= 1 || ran >= launch.groups;
    const bool mayJoin = isWorthIt(rate_, launch) && seconds <= launch.seconds;
    isOver_ = isFull || !mayJoin;
    joins_ = isOver_ && mayJoin;
  }
  /// What is known already says whether it takes part.
  void settle(bool joins) {
    isOver_ = true;
    joins_ = joins;
  }

  bool isOver() const { return isOver_; }
  bool joins() const { return joins_; }
  /// Groups per second, at best; 0: not known.
  double rate() const { return rate_; }

private:
  unsigned tried_ = 0;
  std::uint64_t groups_ = 0; ///< of the last that counted
  double rate_ = 0;
  bool isUnderWay_ = false;
  bool isOver_ = false;
  bool joins_ = false;
};

} // namespace libsplit::runtime
