#include "runtime/plan/set_memo.h"

#include <algorithm>
#include <utility>

namespace libsplit::runtime {

namespace {

bool isCheaperToDo(const ByteSet& a, const ByteSet& b) {
  return a.ranges().size() + b.ranges().size() < SetMemo::leastRanges;
}

} // namespace

template <class What, class Result>
const Result* SetMemo::Ring<What, Result>::find(What what, const ByteSet& a,
                                                const ByteSet& b) const {
  const auto known = std::ranges::find_if(entries, [&](const Known<What, Result>& each) {
    return each.what == what && areSame(each.a, a) && areSame(each.b, b);
  });
  return known == entries.end() ? nullptr : &known->result;
}

template <class What, class Result>
void SetMemo::Ring<What, Result>::keep(Known<What, Result> known) {
  if (entries.size() < capacity) {
    entries.push_back(std::move(known));
    return;
  }
  entries[oldest] = std::move(known);
  oldest = (oldest + 1) % capacity;
}

ByteSet SetMemo::find(Operation operation, const ByteSet& a, const ByteSet& b) {
  if (isCheaperToDo(a, b))
    return operation(a, b);
  if (const ByteSet* result = results_.find(operation, a, b))
    return *result;
  ByteSet result = known(operation(a, b));
  results_.keep({operation, a, b, result});
  return result;
}

bool SetMemo::answer(Question question, const ByteSet& a, const ByteSet& b) {
  if (isCheaperToDo(a, b))
    return (a.*question)(b);
  if (const bool* result = answers_.find(question, a, b))
    return *result;
  const bool result = (a.*question)(b);
  answers_.keep({question, a, b, result});
  return result;
}

/// A copy of an equal set that was met before, else `set` itself.
ByteSet SetMemo::known(const ByteSet& set) const {
  for (const auto& entry : results_.entries)
    for (const ByteSet* other : {&entry.result, &entry.a, &entry.b})
      if (other->ranges().size() == set.ranges().size() && other->hull() == set.hull() &&
          *other == set)
        return *other;
  return set;
}

} // namespace libsplit::runtime
