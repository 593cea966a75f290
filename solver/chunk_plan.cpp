#include "solver/chunk_plan.h"

#include <algorithm>
#include <cmath>

namespace libsplit::solver {

namespace {

// Each device's first chunk is 1/firstParts of an even share, its smallest 1/smallestParts.
constexpr std::uint64_t firstParts = 24;
constexpr std::uint64_t smallestParts = 96;
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

/// True if the others, as far as they are known, would be done with all that remains before
/// `device` is with `unit` groups. Never true of the fastest that is still at work.
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
  const double mine = static_cast<double>(unit) / devices_[device].rate;
  return mine > static_cast<double>(remaining()) / others &&
         mine > static_cast<double>(unit) / fastest;
}

/// Part of the devices' total speed that is `device`'s, as far as one can tell.
double ChunkPlan::weight(unsigned device) const {
  const Device& own = devices_[device];
  double sum = 0;
  bool allMeasured = true;
  bool allHinted = true;
  for (const Device& d : devices_) {
    allMeasured = allMeasured && d.rate > 0;
    allHinted = allHinted && d.hint > 0;
  }
  if (!allMeasured && allHinted) {
    for (const Device& d : devices_)
      sum += d.hint;
    return own.hint / sum;
  }
  // A device that has not finished a chunk yet is no faster than the slowest that has.
  double slowest = 0;
  for (const Device& d : devices_)
    if (d.rate > 0 && (slowest == 0 || d.rate < slowest))
      slowest = d.rate;
  if (slowest == 0)
    return 1.0 / static_cast<double>(devices_.size());
  for (const Device& d : devices_)
    sum += d.rate > 0 ? d.rate : slowest;
  return (own.rate > 0 ? own.rate : slowest) / sum;
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

  if (d.rate > 0 && wouldBeLast(device, std::min(smallest, left))) {
    d.retired = true;
    return {};
  }
  auto size = static_cast<std::uint64_t>(weight(device) * static_cast<double>(left) / 2);
  if (d.last == 0)
    size = d.hint > 0 ? size / 4 : std::max<std::uint64_t>(total_ / (parts * firstParts), 1);
  else
    size = std::min(size, d.last * growth);
  size = std::max(size, smallest);
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
  const double rate = static_cast<double>(range.size()) / seconds;
  d.rate = d.rate > 0 ? 0.3 * d.rate + 0.7 * rate : rate;
  if (samples_.size() < samples_.capacity())
    samples_.push_back({device, range.begin, range.end, seconds});
}

} // namespace libsplit::solver
