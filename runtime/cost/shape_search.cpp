#include "runtime/cost/shape_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace libsplit::runtime {

namespace {

/// A size takes the place of another if it takes so much of its time at most.
constexpr double worthIt = 0.97;
constexpr std::size_t mostCandidates = 24;
/// Launches after which a trial is given up whose time nobody told.
constexpr unsigned patience = 256;
/// Rounds of tiny groups that no budget is ever saved up for.
constexpr double mostRounds = 64;

std::uint64_t itemsOf(const ShapeSearch::Limits& limits) {
  return limits.global[0] * limits.global[1] * limits.global[2];
}

/// The most work-items that a group has whose size divides the NDRange.
std::uint64_t largestDividing(const ShapeSearch::Limits& limits) {
  std::vector<std::uint64_t> sizes{1};
  for (unsigned d = 0; d < limits.dimensions; ++d) {
    std::vector<std::uint64_t> longer;
    const std::uint64_t most = std::max<std::uint64_t>(
        1, std::min({limits.global[d], limits.most.byDimension[d], limits.most.items}));
    for (std::uint64_t divisor = 1; divisor <= most; ++divisor)
      if (limits.global[d] % divisor == 0)
        for (const std::uint64_t size : sizes)
          if (divisor == 1 || size * divisor <= limits.most.items)
            longer.push_back(size * divisor);
    std::ranges::sort(longer);
    longer.erase(std::ranges::unique(longer).begin(), longer.end());
    sizes = std::move(longer);
  }
  return sizes.back();
}

/// In so many goes the device runs the groups that the driver has to make, if these are tiny; else
/// 0.
double roundsOfTiny(const ShapeSearch::Limits& limits) {
  if (!limits.driverMustDivide || itemsOf(limits) < 2 * limits.width)
    return 0; // a group or two are soon done, however they are made
  std::uint64_t twos = 1;
  for (const std::uint64_t global : limits.global)
    twos *= global & -global;
  if (twos >= limits.width)
    return 0;
  const std::uint64_t largest = largestDividing(limits);
  const double rounds = std::ceil(static_cast<double>(itemsOf(limits) / largest) /
                                  static_cast<double>(std::max<std::uint64_t>(limits.atOnce, 1)));
  // What runs at once is over when its longest group is.
  return 2 * largest <= limits.width && rounds > 1 ? rounds : 0;
}

} // namespace

bool ShapeSearch::isDriversTiny(const Limits& limits) {
  return roundsOfTiny(limits) > 0;
}

ShapeSearch::ShapeSearch(const Limits& limits, const Known& known) : limits_(limits) {
  if (itemsOf(limits) < 2 * limits.width) {
    isOver_ = true;
    return;
  }
  rounds_ = roundsOfTiny(limits);
  if (rounds_ == 0)
    candidates_.push_back({});
  addFirst();
  if (!candidates_.empty())
    best_ = candidates_.front().shape;
  if (rounds_ > 0 && rounds_ <= mostRounds)
    candidates_.push_back({});
  isOver_ = candidates_.size() < 2;
  if (isOver_)
    return;
  for (const Reading& reading : known.readings) {
    add(reading.shape);
    if (Reading* candidate = find(reading.shape))
      *candidate = reading;
  }
  add(known.best);
  if ((known.isOver || !known.readings.empty()) && find(known.best)) {
    best_ = known.best;
    isOver_ = known.isOver;
  }
  budget_.earn(known.credit / PlanningBudget::part);
  lastLoss_ = known.lastLoss;
}

ShapeSearch::Reading* ShapeSearch::find(const GroupShape& shape) {
  const auto found = std::ranges::find(candidates_, shape, &Reading::shape);
  return found == candidates_.end() ? nullptr : &*found;
}

bool ShapeSearch::isAllowed(const GroupShape& shape) const {
  for (unsigned d = 0; d < 3; ++d)
    if (shape.local[d] == 0 || shape.local[d] > limits_.most.byDimension[d] ||
        shape.local[d] > std::bit_ceil(limits_.global[d]) ||
        (limits_.mustDivide && limits_.global[d] % shape.local[d] != 0))
      return false;
  return shape.items() >= limits_.width && shape.items() <= limits_.most.items;
}

/// The driver's choice is one from the beginning, or never.
void ShapeSearch::add(GroupShape shape) {
  if (isAllowed(shape) && !find(shape) && candidates_.size() < mostCandidates)
    candidates_.push_back({shape, 0});
}

/// Sizes of 256 work-items or as many of them as there are, of different proportions.
void ShapeSearch::addFirst() {
  using Local = std::array<std::uint32_t, 3>;
  static const std::vector<Local> byDimensions[] = {
      {{256, 1, 1}, {64, 1, 1}, {1024, 1, 1}},
      {{64, 4, 1}, {16, 16, 1}, {4, 64, 1}, {256, 1, 1}},
      {{64, 4, 1}, {16, 16, 1}, {4, 64, 1}, {64, 1, 4}, {4, 1, 64}}};
  for (Local local : byDimensions[limits_.dimensions - 1]) {
    for (unsigned d = 0; d < 3; ++d)
      local[d] = static_cast<std::uint32_t>(
          std::min<std::uint64_t>({local[d], std::bit_ceil(limits_.global[d]),
                                   std::bit_floor(limits_.most.byDimension[d])}));
    for (unsigned d = 3; d-- > 0;) // kernels that take many registers run in smaller groups
      while (GroupShape{local}.items() > limits_.most.items && local[d] > 1)
        local[d] /= 2;
    add({local});
  }
}

/// Of the best.
void ShapeSearch::addNeighbours() {
  const GroupShape from = best_;
  const auto addScaled = [&](unsigned longer, unsigned shorter) {
    GroupShape shape = from;
    if (longer < limits_.dimensions)
      shape.local[longer] *= 2;
    if (shorter < limits_.dimensions)
      shape.local[shorter] /= 2;
    add(shape);
  };
  const unsigned none = limits_.dimensions;
  for (unsigned a = 0; a < limits_.dimensions; ++a)
    for (unsigned b = 0; b <= none; ++b)
      if (a != b)
        addScaled(a, b);
  for (unsigned b = 0; b < limits_.dimensions; ++b)
    addScaled(none, b);
}

/// Seconds per work-item; 0: not known.
double ShapeSearch::bestSeconds() {
  const Reading* candidate = find(best_);
  return candidate ? candidate->secondsPerItem : 0;
}

std::optional<GroupShape> ShapeSearch::untried() {
  const auto isUntried = [](const Reading& each) {
    return each.secondsPerItem <= 0 && !each.shape.isOpen();
  };
  auto found = std::ranges::find_if(candidates_, isUntried);
  if (found == candidates_.end() && !best_.isOpen()) {
    addNeighbours();
    found = std::ranges::find_if(candidates_, isUntried);
  }
  if (found != candidates_.end())
    return found->shape;
  const Reading* drivers = find({});
  return drivers && drivers->secondsPerItem <= 0 ? std::optional(GroupShape{}) : std::nullopt;
}

/// Seconds that a trial may take longer than the best size does.
double ShapeSearch::mostLoss(const GroupShape& candidate, double expected) const {
  if (candidate.isOpen() && rounds_ > 0)
    return rounds_ * expected;
  return lastLoss_ < 0 ? expected : lastLoss_;
}

/// Nobody told what a launch took that tried something.
void ShapeSearch::giveUp() {
  if (isFinal_)
    isOver_ = true;
  else if (*trying_ != best_)
    find(*trying_)->secondsPerItem = std::numeric_limits<double>::infinity();
  trying_.reset();
}

std::optional<GroupShape> ShapeSearch::next(double items) {
  if (isOver_)
    return {};
  if (trying_ && ++awaited_ <= patience)
    return {};
  if (trying_)
    giveUp();
  awaited_ = 0;
  if (isOver_)
    return {};
  const double expected = bestSeconds() * items;
  if (expected <= 0)
    return trying_ = best_;
  budget_.earn(expected);
  if (const std::optional<GroupShape> candidate = isFinal_ ? std::nullopt : untried()) {
    budget_.seen(mostLoss(*candidate, expected));
    if (budget_.affords())
      trying_ = candidate;
    return trying_;
  }
  isFinal_ = true;
  isOver_ = best_.isOpen() || rounds_ > 0; // tiny groups are far better, or far worse
  if (isOver_)
    return {};
  if (drivers_ || budget_.affords())
    trying_ = drivers_ ? best_ : GroupShape{};
  return trying_;
}

double ShapeSearch::observe(const GroupShape& shape, double items, double seconds) {
  Reading* candidate = isOver_ ? nullptr : find(shape);
  if (!candidate)
    return 1;
  const bool isAwaited = trying_ == shape;
  if (!(seconds > 0) || !(items > 0)) {
    if (isAwaited && shape != best_)
      giveUp();
    return 1;
  }
  if (isAwaited)
    trying_.reset();
  const double took = seconds / items, before = bestSeconds();
  candidate->secondsPerItem =
      candidate->secondsPerItem > 0 ? std::min(candidate->secondsPerItem, took) : took;
  if (before > 0 && isAwaited && shape != best_) {
    lastLoss_ = std::max(0.0, took - before) * items;
    budget_.spend(lastLoss_);
  }
  if (isFinal_ && isAwaited) {
    if (shape.isOpen()) {
      drivers_ = took;
      return 1;
    }
    isOver_ = true;
    if (took < worthIt * *drivers_)
      return 1;
    best_ = {};
    return took / *drivers_;
  }
  if (shape == best_ || !(before > 0) || !(took < worthIt * before))
    return 1;
  best_ = shape;
  return before / took;
}

bool ShapeSearch::assume(const GroupShape& shape) {
  const auto wasTried = [](const Reading& each) {
    return !each.shape.isOpen() && each.secondsPerItem > 0;
  };
  add(shape);
  if (isOver_ || !find(shape) || std::ranges::any_of(candidates_, wasTried))
    return false;
  best_ = shape;
  return true;
}

ShapeSearch::Known ShapeSearch::known() const {
  Known made{best_, isOver_, {}, budget_.left(), lastLoss_};
  for (const Reading& each : candidates_)
    if (!isOver_ && each.secondsPerItem > 0 && std::isfinite(each.secondsPerItem))
      made.readings.push_back(each);
  return made;
}

const ShapeSearch* ShapeSearches::find(const Key& key) const {
  const auto found = searches_.find(key);
  return found == searches_.end() ? nullptr : &found->second;
}

ShapeSearch* ShapeSearches::find(const Key& key) {
  const auto found = searches_.find(key);
  return found == searches_.end() ? nullptr : &found->second;
}

bool ShapeSearches::assume(const Key& key, const GroupShape& shape) {
  ShapeSearch* search = find(key);
  const bool isAssumed = search && search->assume(shape);
  version_ += isAssumed;
  return isAssumed;
}

double ShapeSearches::observe(const Key& key, const GroupShape& shape, double items,
                              double seconds) {
  ShapeSearch* search = find(key);
  if (!search)
    return 1;
  const GroupShape before = search->shape();
  const double gain = search->observe(shape, items, seconds);
  version_ += search->shape() != before;
  return gain;
}

} // namespace libsplit::runtime
