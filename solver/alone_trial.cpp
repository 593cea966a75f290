#include "solver/alone_trial.h"

#include "solver/share_solver.h"

namespace libsplit::solver {

namespace {

constexpr int leastTrial = 3;        ///< launches
constexpr double nearly = 0.1;       ///< difference that more launches are to settle
constexpr double leastGain = 1.03;   ///< of all together, or one goes on alone
constexpr double hopeless = 1.2;     ///< times the present way, at which a trial ends at once
constexpr double slower = 1.25;      ///< times what it was: the device has changed
constexpr double firstAge = 5;       ///< launches before the first trial
constexpr double patienceFactor = 4; ///< from one trial to the next

} // namespace

bool AloneTrial::took(Way ran, double seconds) {
  if (ran != way())
    return false; // it was cut before the way changed
  if (!isTrying_) {
    const bool isSlower = ran == Way::Alone && seconds > slower * alone_.seconds;
    if (isSlower && doubted_) {
      doubted_ = false;
      settled_ = Way::Together;
      together_ = {};
      return true;
    }
    doubted_ = isSlower;
    if (!isSlower)
      of(ran).add(seconds, longestTrial);
    return false;
  }
  trial_.add(seconds, longestTrial);
  const double now = of(settled_).seconds;
  const bool isClose = trial_.seconds > (1 - nearly) * now && trial_.seconds < (1 + nearly) * now;
  if (trial_.seconds < hopeless * now && trial_.launches < (isClose ? longestTrial : leastTrial))
    return false;
  of(ran) = trial_;
  settled_ = alone_.seconds < leastGain * together_.seconds ? Way::Alone : Way::Together;
  isTrying_ = false;
  return false;
}

void AloneTrial::consider(double expectedSeconds, double age, double part) {
  const Mean& now = of(settled_);
  if (isTrying_ || age < std::max(firstAge, nextAge_) || now.launches < leastTrial)
    return;
  if (expectedSeconds - now.seconds > part * age * now.seconds)
    return;
  isTrying_ = true;
  trial_ = {};
  nextAge_ = patienceFactor * age;
}

} // namespace libsplit::solver
