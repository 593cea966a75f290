#include "solver/chunk_plan.h"

#include <algorithm>
#include <cmath>

namespace libsplit::solver {

namespace {

constexpr std::uint64_t smallestParts = 96; // of an even share: the smallest chunk
constexpr std::uint64_t growth = 4;

} // namespace

ChunkPlan::ChunkPlan(unsigned devices) : devices_(devices) {}

void ChunkPlan::begin(std::uint64_t totalGroups, std::uint64_t granularity,
                      std::span<const double> speeds, Limits limits) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    devices_[i] = {};
    if (i < speeds.size() && std::isfinite(speeds[i]) && speeds[i] > 0)
      devices_[i].hint = speeds[i];
    if (i < limits.fill.size())
      devices_[i].fill = std::max<std::uint64_t>(limits.fill[i], 1);
  }
  total_ = totalGroups;
  given_ = 0;
  granularity_ = std::max<std::uint64_t>(granularity, 1);
  leastSeconds_ =
      std::isfinite(limits.leastSeconds) && limits.leastSeconds > 0 ? limits.leastSeconds : 0;
  samples_.clear();
  samples_.reserve(devices_.size() * 64);
}

GroupRange ChunkPlan::take(unsigned device, std::uint64_t groups) {
  if (device >= devices_.size())
    return {};
  const GroupRange range{given_, given_ + std::min(groups, remaining())};
  given_ = range.end;
  devices_[device].last = std::max(devices_[device].last, range.size());
  return range;
}

/// True if the others, as far as they are measured, would be done with all that remains before
/// `device` is with `unit` groups, as far as one can tell. Never true of the fastest that is still
/// at work.
bool ChunkPlan::wouldBeLast(unsigned device, std::uint64_t unit) const {
  double others = 0;
  double fastest = 0;
  for (unsigned i = 0; i < devices_.size(); ++i)
    if (i != device && !devices_[i].retired) {
      others += devices_[i].rate;
      fastest = std::max(fastest, devices_[i].rate);
    }
  if (fastest <= 0)
    return false;
  const double mine = static_cast<double>(unit) / rateOf(device);
  return mine > static_cast<double>(remaining()) / others &&
         mine > static_cast<double>(unit) / fastest;
}

/// What a device is thought to do: as measured, else by how it compares with one that is.
double ChunkPlan::rateOf(unsigned device) const {
  const Device& own = devices_[device];
  if (own.rate > 0 || own.hint <= 0)
    return own.rate;
  double rate = 0, hint = 0;
  for (const Device& d : devices_)
    if (d.rate > 0 && d.hint > 0) {
      rate += d.rate;
      hint += d.hint;
    }
  return hint > 0 ? own.hint * rate / hint : 0;
}

/// Part of the devices' total speed that is `device`'s, as far as one can tell.
double ChunkPlan::weight(unsigned device) const {
  const bool isAnyMeasured =
      std::any_of(devices_.begin(), devices_.end(), [](const Device& d) { return d.rate > 0; });
  auto speedOf = [&](unsigned i) { return isAnyMeasured ? rateOf(i) : devices_[i].hint; };
  // A device of which nothing is known counts as none: it gets a group, and is known then.
  double sum = 0;
  for (unsigned i = 0; i < devices_.size(); ++i)
    sum += speedOf(i);
  return sum > 0 ? speedOf(device) / sum : 0;
}

GroupRange ChunkPlan::next(unsigned device) {
  if (device >= devices_.size() || given_ == total_ || devices_[device].retired)
    return {};
  Device& d = devices_[device];
  const std::uint64_t left = remaining();
  const std::uint64_t parts = devices_.size();
  const auto least = static_cast<std::uint64_t>(std::min(d.rate * leastSeconds_, 1e18));
  const std::uint64_t smallest =
      std::max({granularity_, total_ / (parts * smallestParts), d.fill, least});

  // One that is not measured is given the benefit of a single group.
  if (rateOf(device) > 0 && wouldBeLast(device, d.rate > 0 ? std::min(smallest, left) : 1)) {
    d.retired = true;
    return {};
  }
  // Of a device that nobody knows, not even beside others, one group may take longer than the whole
  // launch elsewhere.
  const bool isKnown = d.rate > 0 || d.hint > 0;
  auto size = static_cast<std::uint64_t>(weight(device) * static_cast<double>(left) / 2);
  if (d.last == 0)
    size = d.hint > 0 ? size / 4 : 0;
  else
    size = std::min(size, d.last * growth);
  if (isKnown)
    size = d.last == 0 || d.last >= smallest ? std::max(size, smallest)
                                             : std::max(size, std::min(smallest, d.last * growth));
  size = std::max<std::uint64_t>(size, 1);
  size = (size + granularity_ - 1) / granularity_ * granularity_;
  if (size + granularity_ > left) // no crumbs
    size = left;
  d.last = 0;
  return take(device, size);
}

void ChunkPlan::finish(unsigned device, GroupRange range, double seconds) {
  if (device >= devices_.size() || range.empty() || !(seconds > 1e-12) || !(seconds < 1e12))
    return;
  Device& d = devices_[device];
  const auto groups = static_cast<double>(range.size());
  double rate = groups / seconds;
  // What a larger chunk took more than a small one tells the speed without a chunk's fixed cost.
  if (d.smallSeconds > 0 && groups >= 2 * d.smallGroups && seconds > d.smallSeconds)
    rate = std::clamp((groups - d.smallGroups) / (seconds - d.smallSeconds), rate,
                      static_cast<double>(growth) * rate);
  if (d.smallSeconds == 0 || groups <= d.smallGroups) {
    d.smallGroups = groups;
    d.smallSeconds = seconds;
  }
  d.rate = d.rate > 0 ? 0.3 * d.rate + 0.7 * rate : rate;
  if (samples_.size() < samples_.capacity())
    samples_.push_back({device, range.begin, range.end, seconds});
}

} // namespace libsplit::solver
