#include "solver/alone_trial.h"

#include "solver/share_solver.h"

#include <utility>

namespace libsplit::solver {

namespace {

constexpr int leastTrial = 3;         ///< launches
constexpr double nearly = 0.1;        ///< difference that more launches are to settle
constexpr double leastGain = 1.03;    ///< of all together, or one goes on alone
constexpr double hopeless = 1.2;      ///< times the present way, at which a trial ends at once
constexpr double slower = 1.25;       ///< times what it was: the device has changed
constexpr double stillFalling = 0.95; ///< of the mean of the last launches: so much less is a trend
constexpr double firstAge = 5;        ///< launches before the first trial
constexpr double patienceFactor = 4;  ///< from one trial to the next
constexpr int latest = 16; ///< launches by which one of the trial must have been heard of

} // namespace

/// The two ways are nearly the same.
bool AloneTrial::isClose() const {
  const double now = seconds(settled_);
  return trial_.seconds > (1 - nearly) * now && trial_.seconds < (1 + nearly) * now;
}

/// Launches that the trial still needs, as far as is known.
int AloneTrial::wanted() const {
  return (trial_.launches >= leastTrial && isClose() ? longestTrial : leastTrial) - trial_.launches;
}

/// That way goes on.
void AloneTrial::settle(Way way) {
  hasChanged_ = hasChanged_ || way != settled_;
  settled_ = way;
}

bool AloneTrial::took(Way ran, double seconds) {
  if (isTrying_ && ran == settled_ && ++unheard_ > latest)
    underWay_ = unheard_ = 0; // nobody could tell what they took
  if (ran != (isTrying_ ? other() : settled_))
    return false; // it was cut before the way changed
  if (!isTrying_) {
    const bool isSlower = ran == Way::Alone && seconds > slower * alone_.seconds;
    if (isSlower && doubted_) {
      doubted_ = false;
      settle(Way::Together);
      together_ = {};
      return true;
    }
    doubted_ = isSlower;
    if (!isSlower)
      of(ran).add(seconds, longestTrial);
    return false;
  }
  underWay_ = std::max(0, underWay_ - 1);
  unheard_ = 0;
  trial_.add(seconds, longestTrial);
  if (trial_.seconds < hopeless * of(settled_).seconds && wanted() > 0)
    return false;
  of(ran) = trial_;
  settle(alone_.seconds < leastGain * together_.seconds ? Way::Alone : Way::Together);
  isTrying_ = false;
  return false;
}

void AloneTrial::consider(double expectedSeconds, double age, double part) {
  if (std::exchange(hasChanged_, false)) {
    changedAt_ = age;
    nextAge_ = 0;
  }
  const Mean& now = of(settled_);
  const double since = this->since(age);
  if (isTrying_ || since < std::max(firstAge, nextAge_) || now.launches < leastTrial)
    return;
  if (now.last < stillFalling * now.seconds)
    return; // threads, caches and drivers warm up
  if (expectedSeconds - now.seconds > part * since * now.seconds)
    return;
  isTrying_ = true;
  underWay_ = unheard_ = 0;
  trial_ = {};
  nextAge_ = patienceFactor * since;
}

} // namespace libsplit::solver
