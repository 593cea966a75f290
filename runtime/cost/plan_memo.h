// Plans of a kernel's launches that were made before, by all that they were made from.
//
// A program repeats its launches, exchanges its buffers, or goes through a set of shapes again and
// again. To find out what a launch touches takes from some microseconds to, where conditions and
// divisions nest, many times what a short launch takes; so plans are kept as long as there is room.
#pragma once

#include "runtime/plan/planner.h"

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace libsplit::runtime {

/// By parameter: whether its value has a say in what the kernel touches.
std::vector<bool> decidingScalars(const KernelSummary& summary);

struct PlanKey {
  NDRange range;
  std::vector<std::byte> values; ///< of by-value arguments that have a say, one after the other
  /// By parameter, how long its value is, or the size of the buffer that it is; then, by buffer
  /// argument, which one it is, and where in that.
  std::vector<std::uint64_t> sizes;
  /// By dimension, and there by device, what the shares come to: more of them says nothing.
  std::vector<std::uint64_t> groups;
  std::vector<std::uint64_t> versions; ///< of the buffers whose contents it rests on
  bool withoutInspections = false;
  bool operator==(const PlanKey&) const = default;
};

struct MadePlan {
  std::shared_ptr<const LaunchPlan> plan; ///< null: there can be none
  std::string whyNone;
};

/// Used under the session's lock.
class PlanMemo {
public:
  /// What the plans may hold in all, in ranges of bytes. The longest unused go first, but for a
  /// few.
  static constexpr std::size_t capacity = 1 << 16;
  static constexpr std::size_t always = 4;

  /// What was made from `key`, valid until the next `keep`; null if nothing was.
  const MadePlan* find(const PlanKey& key);
  void keep(PlanKey key, MadePlan made);
  std::size_t size() const { return entries_.size(); }

private:
  struct Hash {
    std::size_t operator()(const PlanKey& key) const;
  };
  struct Entry {
    MadePlan made;
    std::size_t weight = 0;
    std::list<std::pair<const PlanKey, Entry>*>::iterator use;
  };
  std::unordered_map<PlanKey, Entry, Hash> entries_;
  std::list<std::pair<const PlanKey, Entry>*> uses_; ///< the last used first
  std::size_t weight_ = 0;
};

} // namespace libsplit::runtime
