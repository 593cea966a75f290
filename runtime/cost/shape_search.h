// Finds the size of work-groups for launches that leave it open. Pure.
//
// With a local size of NULL the driver chooses, by the NDRange alone. NVIDIA's takes what divides
// it, longest in dimension 0, and knows nothing of the kernel: one that goes down columns (natural
// to who indexes an array of Python's by `get_global_id(0), get_global_id(1)`) then takes five
// times as long as it has to, a plain matrix product twice, and where a dimension is a large prime
// number, each work-item is a group of its own: thirty to a hundred and fifty times. Kernels whose
// result does not depend on the size (dependsOnGroups) may have any.
//
// So launches try sizes, as few as a budget allows: what a trial takes longer than the best known
// size is lost, and may be a fiftieth of what launches take. A trial that gained has cost nothing,
// and the next one follows at once; what lost much waits long. First come sizes of one number of
// work-items and different proportions; then, from the best, what is twice or half as long in a
// dimension, or both, until nothing is better by 3 % (libsplitcl's threshold, Euro-Par 2016, which
// looks at multiples of the preferred size in one dimension). At last the driver's choice and the
// winner are timed once more, one after the other: of many readings the least is often luck.
//
// The driver's choice is tiny where nothing that divides the NDRange fills half of what the device
// runs together, and the device does not run all these groups at once. Then it comes last, and only
// when the budget has what it may lose: its groups run in so many rounds, and each takes no longer
// than a whole launch in other groups. Where long work-items go different ways, or a launch is over
// before the host has made several parts of one, tiny groups are best; where the rounds are many
// that is not tried.
//
// Whole launches and those in pieces are searched for by themselves: pieces fill a device less
// well, and where nothing is chosen they have another size than the driver's (piece_range.h). What
// the one has found the other one takes for the best, if it has tried none itself.
//
// Worked example: a transposition of 8192 x 8192 on an H100 takes 1224 us by the driver's choice.
// 64 x 4 takes 1190, 16 x 16 takes 430, 4 x 64 takes 286; then 2 x 64 327 and 4 x 32 322, none is
// better, and 4 x 64 stays after one more reading of each: a dozen trials, few of which lost time.
#pragma once

#include "runtime/cost/planning_budget.h"
#include "runtime/plan/piece_range.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// Of one kernel, one class of NDRange and one kind of device. Not thread-safe.
class ShapeSearch {
public:
  struct Limits {
    unsigned dimensions = 1;
    std::array<std::uint64_t, 3> global{1, 1, 1}; ///< of the first launch of its class
    GroupLimits most;
    std::uint64_t width = 32;     ///< work-items that the device runs together
    std::uint64_t atOnce = 1;     ///< work-groups of that many, or fewer, that it runs at once
    bool driverMustDivide = true; ///< it makes no group smaller than the others
    bool mustDivide = false;      ///< no size is of use that does not divide the NDRange
  };
  struct Reading {
    GroupShape shape;
    double secondsPerItem = 0; ///< the least
    bool operator==(const Reading&) const = default;
  };
  /// What is known in the end of a run, for the next one.
  struct Known {
    GroupShape best;
    bool isOver = false;
    std::vector<Reading> readings;
    double credit = 0;    ///< seconds that trials may still lose
    double lastLoss = -1; ///< … and that the last one lost; negative: there was none
    bool operator==(const Known&) const = default;
  };

  /// Whether the driver has to make groups that fill less than half of what the device runs
  /// together, and more of them than it runs at once.
  static bool isDriversTiny(const Limits& limits);

  explicit ShapeSearch(const Limits& limits) : ShapeSearch(limits, Known{}) {}
  ShapeSearch(const Limits& limits, const Known& known);

  /// Of launches that try nothing.
  const GroupShape& shape() const { return best_; }
  /// There is nothing to be tried any more.
  bool isOver() const { return isOver_; }
  /// A launch of so many work-items comes: the size that it is to try, if it is to. One at a time.
  std::optional<GroupShape> next(double items);
  /// A launch took so many seconds on the device; 0: nobody knows. By how much launches take less
  /// from now on, if the best size is another than before: old over new; else 1.
  double observe(const GroupShape& shape, double items, double seconds);
  /// Another search found that size. It is the best, as far as one knows, if none was tried here;
  /// false: some were.
  bool assume(const GroupShape& shape);
  Known known() const;

private:
  Reading* find(const GroupShape& shape);
  bool isAllowed(const GroupShape& shape) const;
  void add(GroupShape shape);
  void addFirst();
  void addNeighbours();
  std::optional<GroupShape> untried();
  double mostLoss(const GroupShape& candidate, double expected) const;
  double bestSeconds();
  void giveUp();

  Limits limits_;
  double rounds_ = 0; ///< of the driver's choice, if that is tiny
  GroupShape best_;
  std::vector<Reading> candidates_; ///< in the order in which they are tried; 0 seconds: not yet
  PlanningBudget budget_;
  double lastLoss_ = -1;
  std::optional<GroupShape> trying_;
  unsigned awaited_ = 0;          ///< launches that came since then
  bool isFinal_ = false;          ///< all are tried, and two are once more
  std::optional<double> drivers_; ///< what the driver's choice took then, per work-item
  bool isOver_ = false;
};

/// Those of one kernel. Not thread-safe.
class ShapeSearches {
public:
  static constexpr std::size_t capacity = 64;

  struct Key {
    std::string range;    ///< the name of its class
    bool isTiny = false;  ///< what the driver chooses is
    bool isWhole = false; ///< not in pieces
    unsigned kind = 0;    ///< of device
    auto operator<=>(const Key&) const = default;
  };

  bool isEmpty() const { return searches_.empty(); }
  /// Null if there is none. Valid until one is made.
  const ShapeSearch* find(const Key& key) const;
  /// `make` says what it begins with. If they are too many, all others are forgotten.
  template <class Make> ShapeSearch& at(const Key& key, Make make) {
    auto found = searches_.find(key);
    if (found == searches_.end()) {
      if (searches_.size() >= capacity)
        searches_.clear();
      ++version_;
      found = searches_.emplace(key, make()).first;
    }
    return found->second;
  }
  ShapeSearch* find(const Key& key);
  /// As of the search, if there is one.
  double observe(const Key& key, const GroupShape& shape, double items, double seconds);
  /// The same.
  bool assume(const Key& key, const GroupShape& shape);
  /// Another whenever the best of one is.
  std::uint64_t version() const { return version_; }
  /// Whether the driver's choice for the launch can only be tiny groups on devices of that kind.
  /// `limits` makes those of such a launch there, if the last ones were of other NDRanges.
  template <class Limits>
  bool isTiny(const std::array<std::uint64_t, 3>& global, unsigned kind, Limits limits) {
    LastRanges& last = last_[kind];
    const auto known = std::ranges::find(last.ranges, global, &LastRange::global);
    if (known != last.ranges.end())
      return known->isTiny;
    LastRange& made = last.ranges[last.next++ % last.ranges.size()];
    made = {global, ShapeSearch::isDriversTiny(limits())};
    return made.isTiny;
  }

private:
  std::map<Key, ShapeSearch> searches_;
  std::uint64_t version_ = 0;
  struct LastRange {
    std::array<std::uint64_t, 3> global{};
    bool isTiny = false;
  };
  struct LastRanges {
    std::array<LastRange, 8> ranges;
    std::size_t next = 0;
  };
  std::map<unsigned, LastRanges> last_; ///< by kind: launches mostly repeat some
};

} // namespace libsplit::runtime
