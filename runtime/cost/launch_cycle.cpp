#include "runtime/cost/launch_cycle.h"

#include "runtime/core/log.h"
#include "runtime/cost/trial_budget.h"

#include "solver/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace libsplit::runtime {

namespace {

constexpr std::size_t timedCycles = 3; ///< per phase; the first one, which moves data, not counted
constexpr std::uint64_t trialCycles = 64; ///< a phase that is not timed by then is given up
constexpr std::uint64_t longestLook = 64;
constexpr std::uint64_t firstReview = 64;
constexpr std::uint64_t firstHomeReview = 256; ///< a look from home moves everything twice
constexpr std::uint64_t longestReview = 1 << 14;
constexpr double weighty = 0.05;      ///< part of a cycle that moving all linked bytes would be
constexpr double trialPart = 0.25;    ///< of the time so far, that moving for a trial may take
constexpr double leastPromise = 0.02; ///< predicted gain of joint shares that is worth a try
constexpr double leastGain = 0.005;   ///< measured gain that is worth keeping
/// A way that is slower than another is timed again as long as it gets so much faster by that: much
/// happens once in its first cycles, plans are made, memory is pinned, kernels are compiled.
constexpr double stillFalling = 0.95;
/// … unless it takes so many times as long as home does, and no less than in the cycle before: that
/// is not what happens once, but a device that is much slower than it was thought to be.
constexpr double hopeless = 4;
/// By rounds, which differ, launches have to be shorter by so much to be split.
constexpr double surely = 0.05;
/// What became slower than home is looked at after this part of the cycles to the next review.
constexpr std::uint64_t earlyPart = 8;
/// Own shares and home are tried if they promise no more than so many times what joint shares take:
/// the promise comes from launches that shared the machine, or whose moving was hidden.
constexpr double margin = 1.5;

/// Devices that every place knows: the others stay without work.
std::vector<std::size_t> knownDevices(std::span<const solver::LoadProfile> profiles) {
  std::vector<std::size_t> known;
  for (std::size_t d = 0; d < profiles.front().whole.size(); ++d)
    if (std::all_of(profiles.begin(), profiles.end(), [&](const solver::LoadProfile& profile) {
          return d < profile.whole.size() && std::isfinite(profile.whole[d]) &&
                 profile.whole[d] > 0;
        }))
      known.push_back(d);
  return known;
}

/// What it takes, once, to go from the shares `from` to the shares `to`: on the way that most
/// takes.
double movingSeconds(std::span<const std::vector<double>> from,
                     std::span<const std::vector<double>> to,
                     std::span<const solver::CycleLink> links) {
  double most = 0;
  for (const solver::CycleLink& link : links) {
    double begin = 0, newBegin = 0;
    for (std::size_t d = 0; d < to[link.to].size(); ++d) {
      const double end = begin + from[link.to][d], newEnd = newBegin + to[link.to][d];
      most = std::max(most, solver::newPart(newBegin, newEnd, begin, end) * link.secondsPerUnit);
      begin = end;
      newBegin = newEnd;
    }
  }
  return most;
}

/// What is sent ahead may take so many cycles, and so many times as many as expected.
constexpr std::uint64_t leastSending = 64;
constexpr double muchLonger = 4;

} // namespace

void LaunchCycle::begin(std::size_t length) {
  places_.assign(length, {});
  ++number_;
  // It begins with the last launch, which is also the one a whole cycle ago.
  for (std::size_t i = 0; i < length; ++i)
    places_[i].id = detector_.past(i == 0 ? 0 : length - i);
  at_ = 0;
  age_ = jointAt_ = 0;
  lastJoint_ = homeSeconds_ = 0;
  seconds_ = {};
  settled_ = Way::Own;
  isAdmitted_ = isRefused_ = isSending_ = triedOwn_ = triedJoint_ = triedHome_ = false;
  maySend_ = true;
  patience_ = 1;
  rounds_.begin(length);
  enter(Phase::Free);
}

void LaunchCycle::enter(Phase phase) {
  phase_ = phase;
  ++phases_;
  cycles_ = 0;
  lastTimed_ = 0;
  balance_.reset();
  rounds_.beginPhase(phases_);
  isByRounds_ = rounds_.tellHome();
  for (Place& place : places_)
    place.readings.clear();
}

LaunchCycle::Way LaunchCycle::way() const {
  switch (phase_) {
  case Phase::Joint:
    return Way::Joint;
  case Phase::Home:
  case Phase::Learning:
    return Way::Home;
  case Phase::Settled:
    return settled_;
  case Phase::Free:
  case Phase::Own:
    break;
  }
  return Way::Own;
}

/// The place that such a launch has. It need not come in turn: what an application does now and
/// then between its cycles does not end them.
LaunchCycle::Place* LaunchCycle::find(std::uint64_t id) {
  if (at_ < places_.size() && places_[at_].id == id)
    return &places_[at_];
  auto found = std::find_if(places_.begin(), places_.end(),
                            [&](const Place& place) { return place.id == id; });
  return found == places_.end() ? nullptr : &*found;
}

LaunchCycle::Ruling LaunchCycle::next(const Passing& launch) {
  const std::size_t length = detector_.next(launch.id);
  Place* place = find(launch.id);
  // The same launch again and again may be part of something longer.
  if (length > 1 ? !place || length != places_.size() : length == 1 && !place && launch.outlook) {
    begin(length);
    place = &places_.front();
  }
  Ruling ruling;
  const bool maySuffer = launch.outlook && !launch.isFree;
  if (!place) {
    if (maySuffer && !launch.isSplit)
      ruling.mode = Mode::Waiting;
    rounds_.pass(std::nullopt);
    return ruling;
  }
  place->kind = launch.kind;
  if (launch.isLookedAt) {
    place->gainBefore = launch.gainBefore;
    place->homeSeconds = launch.homeSeconds;
  }
  place->isSplit = launch.isSplit;
  if (phase_ == Phase::Free && maySuffer && !isAdmitted_ && (!launch.isSplit || isRefused_))
    ruling.mode = Mode::Waiting;
  const auto index = static_cast<std::size_t>(place - places_.data());
  const bool isLast = cycles_ + 1 >= patience_ && !balance_; // before a decision
  const bool isTiming = phase_ == Phase::Own || phase_ == Phase::Joint;
  if (launch.isLookedAt && (isTiming ? cycles_ == timedCycles : isLast))
    look(*place, launch);
  if (governs() && isUnderRule(*place)) {
    ruling.ticket = {phases_, cycles_, index};
    if (way() == Way::Home) {
      ruling.mode = phase_ == Phase::Home && !balance_ ? Mode::AtHome : Mode::Native;
    } else {
      ruling.mode = Mode::Split;
      ruled_ = way() == Way::Joint ? place->joint : place->own;
      ruling.shares = ruled_;
    }
  }
  rounds_.pass(doneAs(ruling.mode == Mode::Waiting || !launch.isLookedAt));
  at_ = index + 1;
  if (at_ == places_.size()) {
    at_ = 0;
    cycleEnded(launch);
  }
  if (ruling.mode == Mode::Waiting && isSending_ && place->ahead.plan)
    ruling.sends = &place->ahead;
  return ruling;
}

/// Whether the cycle says what becomes of the launch, rather than the launch itself.
bool LaunchCycle::isUnderRule(const Place& place) const {
  return place.isKnown || (way() == Way::Joint && !place.joint.empty()) ||
         (way() == Way::Home && isAdmitted_);
}

void LaunchCycle::look(Place& place, const Passing& launch) {
  place.isKnown = launch.isKnown && launch.profile(place.profile);
  if (!place.isKnown)
    return;
  if (phase_ == Phase::Free || place.own.empty()) {
    const std::span<const double> own = launch.own();
    place.own.assign(own.begin(), own.end());
  }
  if (place.joint.empty()) // it was not known when the others got theirs
    place.joint = place.own;
  if (place.section.empty() && places_.size() > 1)
    place.section = launch.section();
}

void LaunchCycle::cycleEnded(const Passing& last) {
  ++cycles_;
  ++age_;
  switch (phase_) {
  case Phase::Free:
    if (cycles_ < patience_)
      return;
    if (last.outlook && !isAdmitted_ && !isSplitAsBefore())
      return admit(last);
    if (linksWeigh(last.secondsPerByte)) {
      if (last.outlook && !isAdmitted_)
        takeOver();
      govern(last);
    } else {
      patience_ = std::min(longestLook, patience_ * 2);
      enter(Phase::Free);
    }
    return;
  case Phase::Settled:
    // The devices may have changed: all is timed anew from time to time, the present way first.
    if (!balance_ && cycles_ < patience_ &&
        !(settled_ != Way::Home && cycles_ >= patience_ / earlyPart && rounds_.areSlowerOfLate()))
      return;
    if (jointAt_ > 0 && !balance_)
      beginBalance(last);
    if (isBalancing())
      return; // the next cycle asks again
    if (balance_ && takeBalance())
      enter(Phase::Joint);
    else
      review(last);
    return;
  case Phase::Own:
  case Phase::Joint:
  case Phase::Home:
  case Phase::Learning:
    return trialGoesOn(last);
  }
}

/// A cycle of a phase that is timed has ended.
void LaunchCycle::trialGoesOn(const Passing& last) {
  if (balance_)
    return tryNext(last);
  // By now the data lies where it was to go; a launch that is alone with it goes on by itself.
  if (isAdmitted_ && places_.size() == 1 && phase_ == Phase::Joint)
    return enter(Phase::Free);
  if (const std::optional<double> took = hopelessSeconds()) {
    seconds_[static_cast<std::size_t>(way())] = *took;
    if (seconds_[static_cast<std::size_t>(Way::Home)] > 0)
      return settle();
    return trialEnded(last);
  }
  if (!isTimed()) {
    if (cycles_ >= longestTrial())
      giveUpTrial();
    return;
  }
  if (phase_ == Phase::Learning) {
    enter(phaseOf(settled_)); // which is timed alike
    return takeHomeAsKnown();
  }
  const double took = cycleSeconds();
  if (mayGetFaster(took))
    return timeAgain(took);
  seconds_[static_cast<std::size_t>(way())] = took;
  trialEnded(last);
}

void LaunchCycle::giveUpTrial() {
  const bool isLearning = phase_ == Phase::Learning;
  if (isByRounds_ || isLearning)
    rounds_.giveUp();
  if (isLearning)
    return enter(phaseOf(settled_));
  if (!isAdmitted_) {
    patience_ = longestLook;
    return enter(Phase::Free);
  }
  // One launch alone would drag the data of the others after it.
  patience_ = std::min(longestReview, 2 * std::max(patience_, longestLook));
  enter(Phase::Settled);
}

void LaunchCycle::endSending() {
  isSending_ = false;
  for (Place& place : places_)
    place.ahead = {};
}

void LaunchCycle::lookAgainAfter(std::uint64_t cycles) {
  patience_ = cycles;
  cycles_ = 0;
}

/// Begins with what the outlook proposes, if that pays, once what can be sent ahead is there; else
/// looks again later.
void LaunchCycle::admit(const Passing& last) {
  std::vector<std::uint64_t> ids;
  for (const Place& place : places_)
    ids.push_back(place.id);
  const Outlook* outlook = last.outlook(ids);
  if (!outlook || outlook->steps.size() != places_.size())
    return; // the next cycle asks again
  const auto alike =
      std::ranges::count_if(places_, [&](const Place& place) { return place.kind == last.kind; });
  const double toCome =
      std::max(1.0, static_cast<double>(last.toCome) / static_cast<double>(alike));
  const double gain = outlook->gain();
  log(LogLevel::Debug, "a cycle of ", places_.size(), " launches takes ", outlook->homeSeconds,
      " s at home; predicted ", outlook->seconds, " s split, ", outlook->onceSeconds,
      " s to get there");
  if (isSending_) {
    const Ahead state = last.ahead ? last.ahead() : Ahead::Refused;
    const bool isTooLong = ++sendingCycles_ > mostSending_; // it is written again and again, say
    if (state == Ahead::UnderWay && !isTooLong)
      return lookAgainAfter(1);
    if (state != Ahead::Arrived) {
      maySend_ = false;
      endSending();
    }
  }
  // What is sent ahead takes no time of theirs, but they gain only once it is there, and come
  // behind others meanwhile.
  const double ahead = outlook->onceSeconds - outlook->restSeconds;
  const double sending = ahead / outlook->homeSeconds; // cycles
  const double heldUp = sending * static_cast<double>(places_.size()) * last.secondsHeldUp;
  const bool sends = !isSending_ && maySend_ && last.ahead &&
                     ahead > Outlook::leastGain * outlook->homeSeconds &&
                     sending * gain + heldUp < ahead;
  const double until = sends ? sending : 0;
  const double once = isSending_ ? outlook->restSeconds
                      : sends    ? outlook->restSeconds + heldUp
                                 : outlook->onceSeconds;
  isRefused_ = !(gain * (toCome - until) > once);
  if (isRefused_) {
    endSending();
    // Each cycle that passes says that there will be one more.
    const double enough = gain > 0 ? until + once / gain - toCome : 0;
    return lookAgainAfter(gain > 0 ? 1 + static_cast<std::uint64_t>(std::clamp(
                                             enough, 0.0, static_cast<double>(longestLook)))
                                   : std::min(longestLook, 2 * patience_));
  }
  if (rounds_.mayLearnHome(toCome) &&
      static_cast<double>(age_) <= 2 * CycleRounds::learningPart * toCome)
    return lookAgainAfter(1); // at home it costs nothing but the gain
  // What was measured in an earlier run outweighs what is worked out now, for a while.
  const double before = launchesBeforeTrial(gainBefore());
  if (before > static_cast<double>(age_))
    return lookAgainAfter(std::min(longestLook, static_cast<std::uint64_t>(before) - age_ + 1));
  if (sends) {
    for (std::size_t i = 0; i < places_.size(); ++i)
      places_[i].ahead = outlook->steps[i];
    isSending_ = true;
    sendingCycles_ = 0;
    mostSending_ = leastSending + static_cast<std::uint64_t>(muchLonger * until);
    return lookAgainAfter(1);
  }
  for (std::size_t i = 0; i < places_.size(); ++i)
    places_[i].joint = outlook->steps[i].shares;
  endSending();
  isAdmitted_ = true;
  settled_ = Way::Joint;
  patience_ = 0;
  homeSeconds_ = outlook->launchSeconds;
  takeHomeAsKnown();
  enter(Phase::Joint);
}

/// Of all launches together, as earlier runs measured those that they split; 0: they split none.
/// One of them that is slower by being split may be worth it to the others.
double LaunchCycle::gainBefore() const {
  double home = 0, split = 0;
  bool isKnown = false;
  for (const Place& place : places_) {
    const bool wasSplit = place.gainBefore > 0 && place.homeSeconds > 0;
    isKnown = isKnown || wasSplit;
    home += place.homeSeconds;
    split += wasSplit ? place.homeSeconds / place.gainBefore : place.homeSeconds;
  }
  return isKnown ? home / split : 0;
}

/// Whether all launches of the cycle are split by now, though nobody looked ahead: since they
/// gained by that in an earlier run.
bool LaunchCycle::isSplitAsBefore() const {
  return std::ranges::all_of(places_, [](const Place& place) {
    return place.isKnown && place.isSplit && place.gainBefore > 1 && place.homeSeconds > 0;
  });
}

/// Such launches are the cycle's from here on, as if they had been admitted.
void LaunchCycle::takeOver() {
  homeSeconds_ = 0;
  for (const Place& place : places_)
    homeSeconds_ += place.homeSeconds;
  isAdmitted_ = true;
  takeHomeAsKnown();
}

/// Begins with one place's shares for all, where that promises a shorter cycle than each its own:
/// what a kernel finds by itself may be far from what its neighbours found, or a trial of home.
void LaunchCycle::govern(const Passing& last) {
  patience_ = 0;
  settled_ = Way::Own;
  const std::optional<Model> model = modelOf(last, Way::Own);
  double least = model ? model->seconds(model->shares) : 0;
  const Place* best = nullptr;
  for (std::size_t k = 0; model && k < model->places.size(); ++k) {
    if (k > 0 && model->shares[k] == model->shares[k - 1])
      continue;
    const double seconds = model->seconds({model->shares.size(), model->shares[k]});
    if (seconds < least) {
      least = seconds;
      best = &places_[model->places[k]];
    }
  }
  if (!best)
    return enter(Phase::Own);
  for (const std::size_t place : model->places)
    places_[place].joint = best->own;
  settled_ = Way::Joint;
  enter(Phase::Joint);
}

/// What the outlook rests on was measured at home.
void LaunchCycle::takeHomeAsKnown() {
  seconds_[static_cast<std::size_t>(Way::Home)] =
      rounds_.tellHome() ? rounds_.home() : homeSeconds_;
  triedHome_ = true;
}

void LaunchCycle::review(const Passing& last) {
  const double cycle = seconds_[static_cast<std::size_t>(settled_)];
  const bool isAtHome = settled_ == Way::Home;
  seconds_ = {};
  triedJoint_ = triedHome_ = false;
  lastJoint_ = 0;
  if (!isAtHome && rounds_.mayLearnHome(static_cast<double>(age_)) &&
      affords(last, Way::Home, cycle))
    return enter(Phase::Learning);
  const bool isHomeKnown = isAdmitted_ || rounds_.tellHome();
  if (isHomeKnown)
    takeHomeAsKnown();
  enter(phaseOf(settled_));
  if (isHomeKnown && isAtHome)
    trialEnded(last);
}

LaunchCycle::Phase LaunchCycle::phaseOf(Way way) {
  constexpr Phase phases[ways] = {Phase::Own, Phase::Joint, Phase::Home};
  return phases[static_cast<std::size_t>(way)];
}

void LaunchCycle::trialEnded(const Passing& last) {
  // With new shares comes new knowledge of the load: as long as that helps, there may be better
  // ones. Where it did not, the shares before come back.
  if (phase_ == Phase::Joint) {
    double& joint = seconds_[static_cast<std::size_t>(Way::Joint)];
    triedJoint_ = triedJoint_ && lastJoint_ > 0 && joint > (1 - leastPromise) * lastJoint_;
    if (lastJoint_ > 0 && joint > lastJoint_) {
      for (Place& place : places_)
        if (!place.lastJoint.empty())
          std::swap(place.joint, place.lastJoint);
      joint = lastJoint_;
    }
    lastJoint_ = joint;
  }
  // An outlook has shares for each launch that suit the others.
  triedOwn_ = triedOwn_ || phase_ == Phase::Own || isAdmitted_;
  triedHome_ = triedHome_ || phase_ == Phase::Home;
  // Where nothing moves whatever the shares are there is no reason to rule.
  if (isAdmitted_ && phase_ == Phase::Joint && !linksWeigh(last.secondsPerByte)) {
    patience_ = 1;
    return enter(Phase::Free);
  }
  if (!std::exchange(triedJoint_, true))
    beginBalance(last);
  tryNext(last);
}

/// Tries another way, if one promises anything, once it is known what joint shares do.
void LaunchCycle::tryNext(const Passing& last) {
  if (isBalancing())
    return; // the next cycle asks again
  if (balance_ && takeBalance())
    return enter(Phase::Joint);
  const auto [own, joint, home] = seconds_;
  const double split = own > 0 && joint > 0 ? std::min(own, joint) : std::max(own, joint);
  if (!std::exchange(triedOwn_, true))
    if (const auto model = modelOf(last, Way::Own);
        model && model->seconds(model->shares) < margin * split && affords(last, Way::Own, split))
      return enter(Phase::Own);
  if (!triedHome_ && homePromise(last.home) < margin * split && affords(last, Way::Home, split))
    return enter(Phase::Home);
  settle();
}

/// Whether going to another way and back is a small part of what the cycles so far took.
bool LaunchCycle::affords(const Passing& last, Way way, double cycle) const {
  const std::optional<Model> now = modelOf(last, this->way()), then = modelOf(last, way);
  return !now || !then ||
         2 * movingSeconds(now->shares, then->shares, now->links) <=
             trialPart * static_cast<double>(age_) * cycle;
}

/// The fastest way that was tried stays.
void LaunchCycle::settle() {
  const auto [own, joint, home] = seconds_;
  std::array<double, ways> seconds = seconds_;
  seconds[static_cast<std::size_t>(Way::Home)] = homeToBeat();
  Way best = settled_;
  double least = seconds[static_cast<std::size_t>(best)];
  for (const Way way : {Way::Own, Way::Joint, Way::Home})
    if (const double took = seconds[static_cast<std::size_t>(way)];
        took > 0 && (!(least > 0) || took < (1 - leastGain) * least)) {
      best = way;
      least = took;
    }
  log(LogLevel::Debug, "a cycle of ", places_.size(), " launches takes ", own, " s split, ", joint,
      " s with joint shares, ", home, " s at home (0: not tried)",
      isByRounds_ ? ", as the program waits for them" : "");
  const std::uint64_t first = best == Way::Home ? firstHomeReview : firstReview;
  patience_ = best == settled_ && patience_ > 0 ? std::min(longestReview, 2 * patience_) : first;
  if (jointAt_ > 0)
    patience_ = std::min(patience_, jointAt_ > age_ ? jointAt_ - age_ : 1);
  settled_ = best;
  enter(Phase::Settled);
}

void LaunchCycle::took(const Ticket& ticket, double seconds) {
  // The first cycle moves data.
  if (ticket.cycle > 0 && wantsTime(ticket))
    places_[ticket.place].readings.push_back(seconds);
}

bool LaunchCycle::wantsTime(const Ticket& ticket) const {
  // Launches of the phase before may still end. Where rounds tell, to time launches as well would
  // only make these longer.
  return phase_ != Phase::Settled && ticket.phase == phases_ &&
         (!isByRounds_ || rounds_.isFirst()) && places_[ticket.place].readings.size() < timedCycles;
}

/// How a launch of the cycle is done. `isAtHome`: though the cycle does not say so.
std::optional<CycleRounds::Done> LaunchCycle::doneAs(bool isAtHome) const {
  if (governs() && way() != Way::Home)
    return CycleRounds::Done{false, phases_};
  return governs() || isAtHome ? std::optional(CycleRounds::Done{}) : std::nullopt;
}

void LaunchCycle::roundEnded(double seconds, std::uint64_t launches) {
  rounds_.end(seconds, launches);
}

/// Cycles after which a phase is given up that is not timed by then.
std::uint64_t LaunchCycle::longestTrial() const {
  return isByRounds_ || phase_ == Phase::Learning ? std::max(trialCycles, rounds_.longestTrial())
                                                  : trialCycles;
}

bool LaunchCycle::isTimed() const {
  if (phase_ == Phase::Learning)
    return rounds_.tellHome();
  if (isByRounds_)
    return way() == Way::Home || rounds_.tellSplit();
  return std::all_of(places_.begin(), places_.end(), [this](const Place& place) {
    return !isUnderRule(place) || place.readings.size() == timedCycles;
  });
}

/// Seconds of a cycle at home, or less: what one that is split has to stay below.
double LaunchCycle::homeToBeat() const {
  return (isByRounds_ ? 1 - surely : 1) * seconds_[static_cast<std::size_t>(Way::Home)];
}

/// Whether foreseen shares whose cycles took so long are to be timed longer: they would go home for
/// that, but still get faster.
bool LaunchCycle::mayGetFaster(double took) const {
  const double home = homeToBeat();
  return isAdmitted_ && phase_ == Phase::Joint && home > 0 && took > home &&
         cycles_ < longestTrial() && (!(lastTimed_ > 0) || took < stillFalling * lastTimed_);
}

/// What a cycle takes at least, if that is many times what it takes at home, and falls no more.
std::optional<double> LaunchCycle::hopelessSeconds() const {
  double factor = hopeless;
  if (isByRounds_) {
    const std::optional<double> least = way() == Way::Home ? std::nullopt : rounds_.leastSplit();
    if (least && *least > hopeless * rounds_.home())
      return least;
    if (!rounds_.isFirst())
      return std::nullopt;
    factor *= hopeless; // by its first launches, which take longer
  }
  double first = 0, second = 0, least = 0, home = 0;
  for (const Place& place : places_)
    if (isUnderRule(place)) {
      if (place.readings.size() < 2 || !(place.homeSeconds > 0))
        return std::nullopt;
      first += place.readings[0];
      second += place.readings[1];
      least += std::min(place.readings[0], place.readings[1]);
      home += place.homeSeconds;
    }
  const bool isHopeless =
      way() != Way::Home && least > factor * home && second > stillFalling * first;
  return isHopeless ? std::optional(least) : std::nullopt;
}

void LaunchCycle::timeAgain(double took) {
  lastTimed_ = took;
  rounds_.beginPhase(phases_);
  for (Place& place : places_)
    place.readings.clear();
}

/// Of the way that was timed: what its rounds usually take, or the sum of the places' medians.
double LaunchCycle::cycleSeconds() const {
  if (isByRounds_)
    return way() == Way::Home ? rounds_.home() : rounds_.split();
  double sum = 0;
  for (const Place& place : places_)
    if (isUnderRule(place)) {
      std::array<double, timedCycles> sorted{};
      std::copy(place.readings.begin(), place.readings.end(), sorted.begin());
      std::sort(sorted.begin(), sorted.end());
      sum += sorted[timedCycles / 2];
    }
  return sum;
}

double LaunchCycle::homePromise(std::size_t home) const {
  double sum = 0;
  for (const Place& place : places_)
    if (place.isKnown)
      sum += home < place.profile.fixed.size() ? place.profile.seconds(home, 0, 1)
                                               : std::numeric_limits<double>::infinity();
  return sum;
}

std::vector<std::size_t> LaunchCycle::knownPlaces() const {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_[i].isKnown)
      known.push_back(i);
  return known;
}

/// Which known place needs in a section what another wrote in the same section. Their indices are
/// among the known.
std::vector<solver::CycleLink> LaunchCycle::links(double secondsPerByte) const {
  std::vector<solver::CycleLink> links;
  const std::vector<std::size_t> known = knownPlaces();
  const std::size_t length = known.size();
  for (std::size_t to = 0; to < length; ++to)
    for (const SectionUse& use : places_[known[to]].section) {
      if (use.needs.empty())
        continue;
      for (std::size_t back = 1; back < length; ++back) {
        const std::size_t from = (to + length - back) % length;
        const auto& written = places_[known[from]].section;
        auto same = std::find_if(written.begin(), written.end(), [&](const SectionUse& each) {
          return each.buffer == use.buffer && !each.writes.empty();
        });
        if (same == written.end())
          continue;
        const std::uint64_t bytes = intersect(use.needs, same->writes).size();
        // Where all of the buffer is needed everywhere, cuts do not matter.
        if (2 * bytes >= use.needs.size())
          links.push_back({from, to, static_cast<double>(bytes) / sectionPart * secondsPerByte});
        break;
      }
    }
  return links;
}

/// Whether moving what the links say would take a part of the cycle that matters.
bool LaunchCycle::linksWeigh(double secondsPerByte) const {
  double moving = 0;
  for (const solver::CycleLink& link : links(secondsPerByte))
    moving += link.secondsPerUnit;
  double computing = 0;
  for (const std::size_t i : knownPlaces()) {
    const Place& place = places_[i];
    double begin = 0, longest = 0;
    for (std::size_t d = 0; d < place.own.size(); begin += place.own[d++])
      if (std::isfinite(place.profile.whole[d]))
        longest = std::max(longest, place.profile.seconds(d, begin, begin + place.own[d]));
    computing += longest;
  }
  return moving > weighty * computing;
}

double LaunchCycle::Model::seconds(const std::vector<std::vector<double>>& with) const {
  return solver::cycleSeconds(profiles, links, with);
}

/// The known places with their shares in `way`, over the devices that all of them know; nothing if
/// there is nothing to choose.
std::optional<LaunchCycle::Model> LaunchCycle::modelOf(const Passing& last, Way way) const {
  Model model;
  model.places = knownPlaces();
  if (!(last.secondsPerByte > 0) || model.places.empty())
    return std::nullopt;
  for (const std::size_t i : model.places)
    model.profiles.push_back(places_[i].profile);
  model.devices = knownDevices(model.profiles);
  model.links = links(last.secondsPerByte);
  if (model.devices.size() < 2 || model.links.empty())
    return std::nullopt;
  for (std::size_t k = 0; k < model.places.size(); ++k) {
    const Place& place = places_[model.places[k]];
    const std::vector<double>& now = way == Way::Joint ? place.joint : place.own;
    solver::LoadProfile part{{}, {}, model.profiles[k].work};
    std::vector<double>& shares = model.shares.emplace_back();
    for (const std::size_t d : model.devices) {
      part.fixed.push_back(model.profiles[k].fixed[d]);
      part.whole.push_back(model.profiles[k].whole[d]);
      if (way == Way::Home)
        shares.push_back(d == last.home ? 1 : 0);
      else
        shares.push_back(d < now.size() ? now[d] : 0);
    }
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (!(sum > 0))
      return std::nullopt;
    for (double& share : shares)
      share /= sum;
    model.profiles[k] = std::move(part);
  }
  return model;
}

/// Has joint shares worked out, which takes up to a second: beside the program, where anybody can.
/// Whoever gets to it when nobody waits for it any more does nothing.
void LaunchCycle::beginBalance(const Passing& last) {
  auto balance = std::make_shared<Balance>();
  balance->model = modelOf(last, way());
  balance->since = age_;
  auto work = [asked = std::weak_ptr(balance)]() noexcept {
    if (const std::shared_ptr<Balance> found = asked.lock())
      found->workOut();
  };
  if (!balance->model || !last.beside || !last.beside(work))
    work();
  balance_ = std::move(balance);
}

void LaunchCycle::Balance::workOut() noexcept {
  if (model)
    try {
      joint = solver::balanceCycle(model->profiles, model->links, model->shares);
    } catch (...) {
      model.reset();
    }
  isOver = true;
}

/// Whether joint shares are still being worked out. What takes as long as all cycles before it is
/// given up.
bool LaunchCycle::isBalancing() {
  if (!balance_ || balance_->isOver)
    return false;
  const bool isInTime = age_ - balance_->since <= std::max(trialCycles, balance_->since);
  if (!isInTime) {
    balance_.reset();
    jointAt_ = 0;
  }
  return isInTime;
}

/// Takes over the joint shares that were asked for and found; false if they promise nothing, or
/// nothing yet.
bool LaunchCycle::takeBalance() {
  jointAt_ = 0;
  const std::shared_ptr<const Balance> found = std::exchange(balance_, nullptr);
  if (!found->model)
    return false;
  const Model& model = *found->model;
  const solver::CycleShares& joint = found->joint;
  const double now = model.seconds(model.shares);
  log(LogLevel::Debug, "a cycle of ", places_.size(), " launches, ", model.links.size(),
      " links: predicted ", now, " s, with joint shares ", joint.seconds, " s");
  if (!(joint.seconds < (1 - leastPromise) * now))
    return false;
  // Whoever went round so often is expected to do so as often again.
  jointAt_ = static_cast<std::uint64_t>(
      std::ceil(movingSeconds(model.shares, joint.shares, model.links) / (now - joint.seconds)));
  if (jointAt_ > age_)
    return false;
  jointAt_ = 0;
  for (std::size_t k = 0; k < model.places.size(); ++k) {
    Place& place = places_[model.places[k]];
    place.lastJoint = std::exchange(place.joint, std::vector(place.own.size(), 0.0));
    for (std::size_t i = 0; i < model.devices.size(); ++i)
      place.joint[model.devices[i]] = joint.shares[k][i];
  }
  return true;
}

} // namespace libsplit::runtime
