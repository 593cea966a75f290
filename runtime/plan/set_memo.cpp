#include "runtime/plan/set_memo.h"

namespace libsplit::runtime {

ByteSet SetMemo::find(Operation operation, const ByteSet& a, const ByteSet& b) {
  if (a.ranges().size() + b.ranges().size() < leastRanges)
    return operation(a, b);
  for (const Entry& entry : entries_)
    if (entry.operation == operation && areSame(entry.a, a) && areSame(entry.b, b))
      return entry.result;
  Entry entry{operation, a, b, known(operation(a, b))};
  if (entries_.size() < capacity) {
    entries_.push_back(entry);
  } else {
    entries_[oldest_] = entry;
    oldest_ = (oldest_ + 1) % capacity;
  }
  return entry.result;
}

/// A copy of an equal set that was met before, else `set` itself.
ByteSet SetMemo::known(const ByteSet& set) const {
  for (const Entry& entry : entries_)
    for (const ByteSet* other : {&entry.result, &entry.a, &entry.b})
      if (other->ranges().size() == set.ranges().size() && other->hull() == set.hull() &&
          *other == set)
        return *other;
  return set;
}

} // namespace libsplit::runtime
