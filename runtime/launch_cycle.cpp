#include "runtime/launch_cycle.h"

#include "runtime/log.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace libsplit::runtime {

namespace {

constexpr std::size_t timedCycles = 3; ///< per phase; the first one, which moves data, not counted
constexpr std::uint64_t trialCycles = 64; ///< a phase that is not timed by then is given up
constexpr double sameShare = 0.01;        ///< how far shares may differ that count as the same
constexpr std::uint64_t longestLook = 64;
constexpr std::uint64_t firstReview = 64;
constexpr std::uint64_t firstHomeReview = 256; ///< a look from home moves everything twice
constexpr std::uint64_t longestReview = 1 << 14;
constexpr double weighty = 0.05;      ///< part of a cycle that moving all linked bytes would be
constexpr double leastPromise = 0.02; ///< predicted gain of joint shares that is worth a try
constexpr double leastGain = 0.005;   ///< measured gain that is worth keeping
/// Home is tried if it promises no more than so many times what splitting takes: the promise comes
/// from launches that shared the machine.
constexpr double homeMargin = 1.5;

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

} // namespace

void LaunchCycle::begin(std::size_t length) {
  places_.assign(length, {});
  // It begins with the last launch, which is also the one a whole cycle ago.
  for (std::size_t i = 0; i < length; ++i)
    places_[i].id = detector_.past(i == 0 ? 0 : length - i);
  at_ = 0;
  seconds_ = {};
  settled_ = Way::Own;
  patience_ = 1;
  enter(Phase::Free);
}

void LaunchCycle::enter(Phase phase) {
  phase_ = phase;
  ++phases_;
  cycles_ = 0;
  timedFrom_ = 1;
  for (Place& place : places_) {
    place.readings.clear();
    place.tried.clear();
  }
}

LaunchCycle::Way LaunchCycle::way() const {
  switch (phase_) {
  case Phase::Joint:
    return Way::Joint;
  case Phase::Home:
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
  if (length >= 2 && (!place || length != places_.size())) {
    begin(length);
    place = &places_.front();
  }
  if (!place)
    return {};
  Ruling ruling;
  const auto index = static_cast<std::size_t>(place - places_.data());
  const bool looks = phase_ == Phase::Own || (phase_ == Phase::Free && cycles_ + 1 >= patience_);
  if (looks)
    look(*place, launch);
  if (governs() && place->isKnown) {
    ruling.ticket = {phases_, cycles_, index};
    if (way() == Way::Home) {
      ruling.mode = phase_ == Phase::Settled ? Mode::Native : Mode::AtHome;
    } else {
      ruling.mode = Mode::Split;
      ruling.shares = way() == Way::Joint ? std::span<const double>(place->joint) : launch.own();
      if (phase_ != Phase::Settled)
        noteShares(*place, ruling.shares);
    }
  }
  at_ = index + 1;
  if (at_ == places_.size()) {
    at_ = 0;
    cycleEnded(launch);
  }
  return ruling;
}

/// Where shares are still changing, data moves that will not move again: the timing starts anew.
void LaunchCycle::noteShares(Place& place, std::span<const double> shares) {
  const bool changed =
      !place.tried.empty() &&
      !std::equal(shares.begin(), shares.end(), place.tried.begin(), place.tried.end(),
                  [](double a, double b) { return std::abs(a - b) <= sameShare; });
  place.tried.assign(shares.begin(), shares.end());
  if (!changed || cycles_ >= trialCycles / 2)
    return;
  timedFrom_ = cycles_ + 1;
  for (Place& each : places_)
    each.readings.clear();
}

void LaunchCycle::look(Place& place, const Passing& launch) {
  place.isKnown = launch.isKnown && launch.profile(place.profile);
  if (!place.isKnown)
    return;
  const std::span<const double> own = launch.own();
  place.own.assign(own.begin(), own.end());
  if (place.section.empty())
    place.section = launch.section();
}

void LaunchCycle::cycleEnded(const Passing& last) {
  ++cycles_;
  switch (phase_) {
  case Phase::Free:
    if (cycles_ < patience_)
      return;
    if (linksWeigh(last.secondsPerByte)) {
      patience_ = 0;
      enter(Phase::Own);
    } else {
      patience_ = std::min(longestLook, patience_ * 2);
      enter(Phase::Free);
    }
    return;
  case Phase::Settled:
    // The devices may have changed: all is timed anew from time to time.
    if (cycles_ >= patience_)
      enter(Phase::Own);
    return;
  case Phase::Own:
  case Phase::Joint:
  case Phase::Home:
    if (isTimed()) {
      seconds_[static_cast<std::size_t>(way())] = cycleSeconds();
      trialEnded(last);
    } else if (cycles_ >= trialCycles) {
      patience_ = longestLook;
      enter(Phase::Free);
    }
    return;
  }
}

void LaunchCycle::trialEnded(const Passing& last) {
  auto& [own, joint, home] = seconds_;
  if (phase_ == Phase::Own) {
    joint = home = 0;
    if (balance(last.secondsPerByte))
      return enter(Phase::Joint);
  }
  const double split = joint > 0 ? std::min(own, joint) : own;
  if (phase_ != Phase::Home && homePromise(last.home) < homeMargin * split)
    return enter(Phase::Home);
  settle();
}

/// The fastest way that was tried stays.
void LaunchCycle::settle() {
  const auto [own, joint, home] = seconds_;
  Way best = Way::Own;
  double least = own;
  if (joint > 0 && joint < (1 - leastGain) * least) {
    best = Way::Joint;
    least = joint;
  }
  if (home > 0 && home < (1 - leastGain) * least)
    best = Way::Home;
  log(LogLevel::Debug, "a cycle of ", places_.size(), " launches takes ", own, " s split, ", joint,
      " s with joint shares, ", home, " s at home (0: not tried)");
  const std::uint64_t first = best == Way::Home ? firstHomeReview : firstReview;
  patience_ = best == settled_ && patience_ > 0 ? std::min(longestReview, 2 * patience_) : first;
  settled_ = best;
  enter(Phase::Settled);
}

void LaunchCycle::took(const Ticket& ticket, double seconds) {
  // Launches of the phase before may still end, and the first cycle moves data.
  if (ticket.phase == phases_ && ticket.cycle >= timedFrom_ &&
      places_[ticket.place].readings.size() < timedCycles)
    places_[ticket.place].readings.push_back(seconds);
}

bool LaunchCycle::isTimed() const {
  return std::all_of(places_.begin(), places_.end(), [](const Place& place) {
    return !place.isKnown || place.readings.size() == timedCycles;
  });
}

/// The sum of the places' medians.
double LaunchCycle::cycleSeconds() const {
  double sum = 0;
  for (const Place& place : places_)
    if (place.isKnown) {
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

/// Finds joint shares; false if they promise nothing.
bool LaunchCycle::balance(double secondsPerByte) {
  const std::vector<std::size_t> places = knownPlaces();
  if (!(secondsPerByte > 0) || places.empty())
    return false;
  std::vector<solver::LoadProfile> profiles;
  for (const std::size_t i : places)
    profiles.push_back(places_[i].profile);
  const std::vector<std::size_t> devices = knownDevices(profiles);
  const std::vector<solver::CycleLink> links = this->links(secondsPerByte);
  // Descent over many cuts takes long, and it happens between two launches of the application.
  constexpr std::size_t mostCuts = 24;
  if (devices.size() < 2 || links.empty() || places.size() * (devices.size() - 1) > mostCuts)
    return false;
  std::vector<std::vector<double>> own;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Place& place = places_[places[k]];
    solver::LoadProfile part{{}, {}, profiles[k].work};
    own.emplace_back();
    for (const std::size_t d : devices) {
      part.fixed.push_back(profiles[k].fixed[d]);
      part.whole.push_back(profiles[k].whole[d]);
      own.back().push_back(d < place.own.size() ? place.own[d] : 0);
    }
    const double sum = std::accumulate(own.back().begin(), own.back().end(), 0.0);
    if (!(sum > 0))
      return false;
    for (double& share : own.back())
      share /= sum;
    profiles[k] = std::move(part);
  }
  const double alone = solver::cycleSeconds(profiles, links, own);
  const solver::CycleShares joint = solver::balanceCycle(profiles, links, own);
  log(LogLevel::Debug, "a cycle of ", places_.size(), " launches, ", links.size(),
      " links: predicted ", alone, " s, with joint shares ", joint.seconds, " s");
  if (!(joint.seconds < (1 - leastPromise) * alone))
    return false;
  for (std::size_t k = 0; k < places.size(); ++k) {
    Place& place = places_[places[k]];
    place.joint.assign(place.own.size(), 0.0);
    for (std::size_t i = 0; i < devices.size(); ++i)
      place.joint[devices[i]] = joint.shares[k][i];
  }
  return true;
}

} // namespace libsplit::runtime
