#include "runtime/cost/cycle_rounds.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

void CycleRounds::begin(std::size_t length) {
  const std::uint64_t launches = round_.launches;
  const std::uint64_t before = roundLaunches_;
  *this = {};
  length_ = length;
  round_ = {launches, true, {}};
  roundLaunches_ = before;
}

void CycleRounds::beginPhase(std::uint64_t phase) {
  phase_ = phase;
  split_ = {};
  isFirst_ = true;
}

void CycleRounds::pass(const std::optional<Done>& done) {
  round_.isMixed = round_.isMixed || !done || (round_.launches > 0 && done != round_.done);
  round_.done = done;
  ++round_.launches;
}

void CycleRounds::end(double seconds, std::uint64_t launches) {
  roundLaunches_ = launches;
  const Round round = std::exchange(round_, {});
  const bool isOfOneWay =
      seconds > 0 && !round.isMixed && round.done && round.launches == launches && length_ > 0;
  const std::optional<Done> before =
      std::exchange(last_, isOfOneWay ? round.done : std::optional<Done>());
  if (isOfOneWay && !round.done->isAtHome && round.done->phase == phase_)
    isFirst_ = false;
  if (!isOfOneWay || before != round.done) {
    launches_ = 0;
    seconds_ = 0;
    return;
  }
  launches_ += launches;
  seconds_ += seconds;
  if (launches_ % length_ != 0)
    return;
  cycles_ = std::exchange(launches_, 0) / length_;
  const double each = std::exchange(seconds_, 0) / static_cast<double>(cycles_);
  if (round.done->isAtHome)
    home_.note(each);
  else if (round.done->phase == phase_)
    split_.note(each);
}

bool CycleRounds::tellHome() const {
  return !isGivenUp_ && home_.known().size() >= timed && cycles_ <= mostCycles &&
         round_.launches <= mostCycles * length_;
}

std::optional<double> CycleRounds::leastSplit() const {
  return split_.known().size() > 1 ? std::optional(split_.quantile(0)) : std::nullopt;
}

bool CycleRounds::areSlowerOfLate() const {
  return tellHome() && split_.isFull() && split() > home();
}

std::uint64_t CycleRounds::longestTrial() const {
  // Those that end while the phase begins and the first are not counted.
  return 2 * (timed + 1) * std::max(cycles_, 1 + roundLaunches_ / length_);
}

bool CycleRounds::mayLearnHome(double cycles) const {
  const std::uint64_t each = (roundLaunches_ + length_ - 1) / length_;
  return !isGivenUp_ && roundLaunches_ > 1 && each <= mostCycles && !tellHome() &&
         static_cast<double>((timed + 1) * each) <= learningPart * cycles;
}

} // namespace libsplit::runtime
