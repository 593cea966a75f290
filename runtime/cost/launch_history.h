// What is remembered of a kernel's launches, and under which key.
//
// Launches share their state where they can be expected to cost about the same: NDRange and scalars
// of one class each. Only scalars count that the analysis saw in a guard, a loop's length or an
// offset: the width of a merge-sort pass, the step of an elimination, a multigrid level's size.
//
// A scalar's class is a single value up to 8 (flags, directions, colours of a red-black sweep) and
// a power of two above, with the sign. Exact values would never come back where a scalar counts
// steps, and nothing would ever be learnt; within a factor of two the solver follows as it follows
// any load that drifts. A step counter goes through 8 + log2 of its range classes, each as long as
// all before it; a new class begins with the speeds of its nearest neighbour (known_speeds.h).
// An NDRange's class has work-group counts in four steps for each doubling, for the same reason,
// and goes by the name of its first one; what a launch took is brought to the size of the one that
// its controller began with.
//
// Worked example: lu(A, n, k) over 1024 x 1024 with the guard `i > k && j > k`. Steps k = 512 ..
// 1023 are one class, 256 .. 511 another. The latter ends with shares that the former starts from.
// Where it is launched over n - k rows instead, 1023 .. 896 of them are one class, 895 .. 768 the
// next.
#pragma once

#include "runtime/core/completion.h"
#include "runtime/cost/contents_budget.h"
#include "runtime/cost/plan_memo.h"
#include "runtime/cost/planning_budget.h"
#include "runtime/cost/rehearsal.h"
#include "runtime/cost/share_controller.h"
#include "runtime/cost/start_skew.h"
#include "runtime/plan/boundary.h"
#include "runtime/plan/overlap.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace libsplit::runtime {

struct SpeedRecord;

/// The part of a by-value argument that the summary's expressions use.
struct WorkScalar {
  unsigned parameter = 0;
  unsigned bit = 0; ///< where it lies in the argument
  unsigned width = 32;
  bool isSigned = true;
  auto operator<=>(const WorkScalar&) const = default;
};

/// Scalars that can change how much a work-group does, or whether it does anything. Sorted.
std::vector<WorkScalar> workScalars(const KernelSummary& summary);

/// 0; ±1 .. ±8 for themselves; beyond, ±(6 + floor(log2 |value|)).
int valueClass(std::int64_t value);

/// "64x64/8x8", and the offset if there is one.
std::string rangeName(const NDRange& range, bool localGiven);

struct LaunchKey {
  std::string range;        ///< "1024x1024/8x8", the first of its class
  std::vector<int> classes; ///< by WorkScalar
  auto operator<=>(const LaunchKey&) const = default;
};

/// The classes of `scalars`; arguments that hold too few bytes count as 0.
std::vector<int> classesOf(std::span<const WorkScalar> scalars,
                           std::span<const ArgumentValue> arguments);

/// How unlike two launches of one kernel are: doublings between their sizes and their scalars.
double distance(const LaunchKey& a, double itemsA, const LaunchKey& b, double itemsB);

/// What is remembered of launches of one kernel under one key.
struct LaunchHistory {
  std::unique_ptr<ShareController> controller;
  /// In which the last split went, of this run or an earlier one; nothing: of such a range of so
  /// many dimensions none is known.
  std::optional<unsigned> usualDimension(unsigned dimensions) const;

  std::optional<NDRange> base;         ///< of the launch that the controller began with
  std::shared_ptr<SpeedRecord> record; ///< what other launches and later runs get to know
  std::optional<unsigned> dimension;   ///< in which the last split went
  std::uint64_t splits = 0;            ///< launches split so far
  bool isSplit = false;    ///< the last launch was, but for those that are timed at home meanwhile
  bool isWaitedFor = true; ///< the program waited for the last one that was timed
  std::uint64_t waiting = 0;         ///< launches at home until it is known whether splitting pays
  std::uint64_t nextTimed = 1;       ///< of those, the next that is to be timed
  std::vector<bool> lacksRoom;       ///< by device: it has no room for what launches need
  std::vector<Rehearsal> rehearsals; ///< by device; of latecomers (isLatecomer)
  /// The last plan, and what came of it where it was cut by what departs (plan/boundary.h).
  struct {
    std::shared_ptr<const LaunchPlan> whole;
    std::vector<std::pair<Departing, std::shared_ptr<const LaunchPlan>>> cuts;
  } boundaries;
  Overlaps overlaps;      ///< of its plans
  bool mayOverlap = true; ///< no device lacked room for what that takes
  StartSkew starts;       ///< of its split launches, by device
  PlanningBudget planning, learning;
  struct Compiled {
    NDRange range;           ///< of the launch that it was ordered for
    CompletionPtr done = {}; ///< over when drivers have it; null: nobody has asked
  };
  Compiled compiled; ///< what its pieces take
  struct Joining {
    Compiled compiled;
    std::uint64_t groups = 0; ///< of a rehearsal; 0: of its pieces
  };
  std::vector<Joining> joining;   ///< by device; what it takes before it takes part
  std::optional<PlanKey> planned; ///< what the last plan was made from, unless it took contents
  ContentsBudget budget;
  ContentsBudget inspectionBudget{0.1}; ///< of what splitting gains
};

/// The histories of one kernel: at most `capacity`, the longest unused goes first.
class LaunchHistories {
public:
  static constexpr std::size_t capacity = 64;

  /// Made on first use. Valid until the next call.
  LaunchHistory& at(const LaunchKey& key);
  /// The name of the first range asked for of the same class. Valid until the next call.
  const std::string& nameOf(const NDRange& range, bool localGiven);
  std::size_t size() const { return entries_.size(); }
  /// Calls `visit` with all of that NDRange's class.
  template <class Visit> void ofRange(const std::string& range, Visit visit) {
    for (auto& [key, entry] : entries_)
      if (key.range == range)
        visit(entry.history);
  }

private:
  struct Entry {
    LaunchHistory history;
    std::uint64_t used = 0;
  };
  std::map<LaunchKey, Entry> entries_;
  std::pair<const LaunchKey, Entry>* last_ = nullptr; ///< the one asked for last
  std::uint64_t uses_ = 0;
  struct RangeClass {
    unsigned dimensions = 0;
    bool localGiven = false;
    std::array<std::uint64_t, 3> local{}; ///< 0: left open
    std::array<bool, 3> isUneven{};       ///< the last work-group is smaller than the others
    std::array<int, 3> size{};            ///< of its work-groups; of work-items, if left open
    std::array<int, 3> offset{};
    auto operator<=>(const RangeClass&) const = default;
  };
  static RangeClass classOf(const NDRange& range, bool localGiven);

  std::map<RangeClass, std::string> names_;
  struct {
    NDRange range;
    bool localGiven = false;
    const std::string* name = nullptr; ///< null: none yet
  } lastRange_;                        ///< a kernel's launches mostly repeat it
};

} // namespace libsplit::runtime
