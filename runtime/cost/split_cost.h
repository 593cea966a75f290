// What splitting a launch costs, whatever its length, and which launches are too short for it.
// Pure.
//
// A split launch takes longer than the longest of its pieces: it is planned, its pieces are handed
// to their devices one after the other, and somebody has to see that all of them have ended. What
// that comes to depends on drivers and devices, tens of microseconds where all are in one machine
// and as many milliseconds where one is across a network; so it is measured, at launches that had
// their queue to themselves, and kept for the next run. Until then it is a guess, and a low one:
// a launch that is split in vain shows what it costs, and one that is not shows nothing.
//
// A launch at home also takes longer than its device is at work, if the program waits for it: that
// is noted as well, and is no cost of splitting.
//
// Where nobody waits, the host prepares the next launch while devices are at work on this one. Then
// it takes as long as its longest piece, or as long as the host is busy with one, if that is
// longer: how long calls take that split a launch.
//
// Two devices alike take half as long each. So what the program waits for less than twice the cost,
// less what home costs anyway, can't gain by being split, and is left alone; what takes longer may,
// and whether it does is then measured. What takes less than splitting costs in all is left alone
// in any case: to try it would take longer than it could ever gain.
//
// Worked example: a launch of 1 ms is split in halves and is over after 0.56 ms. Splitting costs 60
// us; launches of 120 us or less stay at home. Where the program waits at home for 1.02 ms, those
// stay that it would wait for for 100 us or less.
//
// What comes behind a launch that libsplit is at work on has to wait until that is over, and then
// is given to the device by libsplit. Where the host does that while the device is at work, it
// costs nothing; where a device works in the thread that calls it, each goes to another thread,
// which takes as long as a short launch.
//
// A machine that was busy makes it look dear, and launches that therefore are not split can't show
// that it is not. So what counts is what the cheaper ones of the latest launches cost, and each
// later run believes somewhat less of what it was told, down to the guess, until it measures
// itself.
#pragma once

#include "runtime/cost/latest.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace libsplit::runtime {

/// Not thread-safe.
class SplitCost {
public:
  /// A launch that was alone in its queue took `wall` seconds, its longest piece `longest` of them.
  void note(double wall, double longest) {
    split_.note(std::max(wall - longest, 0.0));
    if (isMeasured())
      seconds_ = cheaper(split_);
  }
  /// The program waited `wall` seconds for a launch at home, which was at work for `seconds`.
  void noteAtHome(double wall, double seconds) { home_.note(std::max(wall - seconds, 0.0)); }
  /// A launch at home that was a task, behind others in its queue: `wall` seconds passed from their
  /// end to its own, for which it was at work for `seconds`. What seems to have begun before they
  /// ended tells nothing.
  void noteAsTask(double wall, double seconds) {
    if (wall >= seconds)
      asTask_.note(wall - seconds);
  }
  /// A call that split a launch was busy with it for so many seconds.
  void noteBusy(double seconds) { busy_.note(seconds); }
  /// An earlier run left so much. Ignored once something is known of this one.
  void begin(double seconds) {
    if (!isMeasured())
      seconds_ = std::max(kept * seconds, std::min(seconds, guessed));
  }
  /// For the next run; nothing if that need not know.
  std::optional<double> toKeep() const {
    return isMeasured() || seconds_ > guessed ? std::optional(shortestLaunch() / 2) : std::nullopt;
  }
  /// Of one launch.
  double seconds() const { return seconds_; }
  /// What one takes at the least where nobody waits for it: launches that take less at home can't
  /// gain there.
  double shortestBehind() const { return tells(busy_) ? cheaper(busy_) : seconds_; }
  /// What it costs a launch at home to be a task, behind others that are, where the driver could
  /// have had it as it came; 0: nothing tells yet.
  double asTask() const { return tells(asTask_) ? cheaper(asTask_) : 0; }
  /// Launches that take less at home can't gain, if they are waited for.
  double shortestLaunch() const {
    // What an earlier run left has it off already.
    const double atHome = isMeasured() && tells(home_) ? cheaper(home_) : 0;
    return std::max(2 * seconds_ - atHome, seconds_);
  }

private:
  using Costs = Latest<16>;
  static bool tells(const Costs& costs) { return costs.known().size() >= least; }
  static double cheaper(const Costs& costs) { return costs.quantile(0.25); }
  bool isMeasured() const { return tells(split_); }

  static constexpr double guessed = 50e-6;
  static constexpr double kept = 0.8;
  static constexpr std::size_t least = 4; ///< launches that tell anything

  double seconds_ = guessed;
  Costs split_, home_, asTask_, busy_;
};

} // namespace libsplit::runtime
