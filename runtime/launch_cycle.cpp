#include "runtime/launch_cycle.h"

#include "runtime/log.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace libsplit::runtime {

namespace {

constexpr std::size_t timedCycles = 4; ///< per phase; the first one, which moves data, not counted
constexpr std::size_t reviewCycles = 64;
constexpr std::size_t longestRest = 4096;
constexpr double leastPromise = 0.02; ///< predicted gain that is worth a try
constexpr double leastGain = 0.005;   ///< measured gain that is worth keeping

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
  at_ = 0;
  restCycles_ = 32;
  enter(Phase::Watching);
}

void LaunchCycle::enter(Phase phase) {
  phase_ = phase;
  cycles_ = timed_ = 0;
  seconds_ = 0;
}

std::span<const double> LaunchCycle::next(const Passing& launch) {
  const std::size_t length = detector_.next(launch.id);
  if (length != places_.size())
    begin(length);
  if (length < 2)
    return launch.own;
  Place& place = places_[at_];
  place.own.assign(launch.own.begin(), launch.own.end());
  const bool looks =
      phase_ == Phase::Watching || (phase_ == Phase::Joint && cycles_ + 1 == reviewCycles);
  if (looks) {
    place.isKnown = launch.profile(place.profile);
    if (place.section.empty())
      place.section = launch.section();
  }
  const bool joint = isJoint() && !place.joint.empty();
  const std::span<const double> shares = joint ? place.joint : place.own;
  at_ = (at_ + 1) % length;
  if (at_ == 0)
    cycleEnded(launch.secondsPerByte);
  return shares;
}

void LaunchCycle::cycleEnded(double secondsPerByte) {
  ++cycles_;
  const bool timed = timed_ >= timedCycles * places_.size();
  const double perCycle =
      timed_ > 0 ? seconds_ / static_cast<double>(timed_) * static_cast<double>(places_.size()) : 0;
  switch (phase_) {
  case Phase::Watching:
    if (!timed)
      return;
    ownSeconds_ = perCycle;
    enter(balance(secondsPerByte) ? Phase::Trying : Phase::Resting);
    return;
  case Phase::Trying:
    if (!timed)
      return;
    log(LogLevel::Debug, "a cycle of ", places_.size(), " launches takes ", perCycle,
        " s with joint shares, ", ownSeconds_, " s without");
    if (perCycle < (1 - leastGain) * ownSeconds_) {
      restCycles_ = 32;
      enter(Phase::Joint);
    } else {
      enter(Phase::Resting);
    }
    return;
  case Phase::Joint:
    if (cycles_ < reviewCycles)
      return;
    // The devices may have changed: timed anew from time to time, without and with. A device that
    // the joint shares leave out gets its chance meanwhile.
    enter(Phase::Watching);
    return;
  case Phase::Resting:
    if (cycles_ < restCycles_)
      return;
    restCycles_ = std::min(longestRest, restCycles_ * 2);
    enter(Phase::Watching);
    return;
  }
}

void LaunchCycle::took(double seconds) {
  // Launches of the phase before may still end, and the first cycle moves data.
  if (places_.size() < 2 || cycles_ < 1 || timed_ >= timedCycles * places_.size())
    return;
  ++timed_;
  seconds_ += seconds;
}

/// Who needs in a section what another place wrote in the same section.
std::vector<solver::CycleLink> LaunchCycle::links(double secondsPerByte) const {
  std::vector<solver::CycleLink> links;
  const std::size_t length = places_.size();
  for (std::size_t to = 0; to < length; ++to)
    for (const SectionUse& use : places_[to].section) {
      if (use.needs.empty())
        continue;
      for (std::size_t back = 1; back < length; ++back) {
        const std::size_t from = (to + length - back) % length;
        const auto& written = places_[from].section;
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

/// Finds joint shares; false if they promise nothing.
bool LaunchCycle::balance(double secondsPerByte) {
  if (!(secondsPerByte > 0) || std::any_of(places_.begin(), places_.end(),
                                           [](const Place& place) { return !place.isKnown; }))
    return false;
  std::vector<solver::LoadProfile> profiles;
  for (const Place& place : places_)
    profiles.push_back(place.profile);
  const std::vector<std::size_t> known = knownDevices(profiles);
  const std::vector<solver::CycleLink> links = this->links(secondsPerByte);
  // Descent over many cuts takes long, and it happens between two launches of the application.
  constexpr std::size_t mostCuts = 24;
  if (known.size() < 2 || links.empty() || places_.size() * (known.size() - 1) > mostCuts)
    return false;
  std::vector<std::vector<double>> own;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    solver::LoadProfile part{{}, {}, profiles[k].work};
    own.emplace_back();
    for (std::size_t d : known) {
      part.fixed.push_back(profiles[k].fixed[d]);
      part.whole.push_back(profiles[k].whole[d]);
      own.back().push_back(d < places_[k].own.size() ? places_[k].own[d] : 0);
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
  for (std::size_t k = 0; k < places_.size(); ++k) {
    places_[k].joint.assign(places_[k].own.size(), 0.0);
    for (std::size_t i = 0; i < known.size(); ++i)
      places_[k].joint[known[i]] = joint.shares[k][i];
  }
  return true;
}

} // namespace libsplit::runtime
