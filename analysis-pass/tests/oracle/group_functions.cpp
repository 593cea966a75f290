#include "analysis-pass/tests/oracle/group_functions.h"

#include <algorithm>
#include <limits>

namespace libsplit::oracle {

thread_local GroupUnderWay groupUnderWay;

namespace {

enum class Operation { Add, Min, Max };
enum class Form { Reduce, Exclusive, Inclusive };
enum class Scope { WorkGroup, SubGroup };

/// The values of the caller's scope: [first, last) of all, once all work-items have left theirs.
struct Shared {
  Shared(Scope scope, std::int64_t value) {
    GroupUnderWay& group = groupUnderWay;
    item = group.fibers->current();
    const std::size_t items = group.size[0] * group.size[1] * group.size[2];
    group.values.resize(std::max(items, group.values.size()));
    group.values[item] = value;
    group.fibers->yield();
    first = scope == Scope::SubGroup ? item / subGroupSize * subGroupSize : 0;
    last = scope == Scope::SubGroup ? std::min(first + subGroupSize, items) : items;
  }
  /// Until the last one has read, nobody may leave the next value.
  ~Shared() { groupUnderWay.fibers->yield(); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  std::size_t item, first, last;
};

template <class T, Operation operation, Form form, Scope scope> T combine(T value) {
  const Shared shared(scope, value);
  constexpr T neutral = operation == Operation::Add   ? T{0}
                        : operation == Operation::Min ? std::numeric_limits<T>::max()
                                                      : std::numeric_limits<T>::min();
  const std::size_t last = form == Form::Reduce      ? shared.last
                           : form == Form::Exclusive ? shared.item
                                                     : shared.item + 1;
  T result = neutral;
  for (std::size_t i = shared.first; i < last; ++i) {
    const T each = static_cast<T>(groupUnderWay.values[i]);
    if (operation == Operation::Add) // wraps around
      result =
          static_cast<T>(static_cast<std::uint32_t>(result) + static_cast<std::uint32_t>(each));
    else
      result = operation == Operation::Min ? std::min(result, each) : std::max(result, each);
  }
  return result;
}

template <Scope scope, bool all> std::int32_t vote(std::int32_t value) {
  const Shared shared(scope, value != 0);
  const auto begin = groupUnderWay.values.begin();
  const auto of = std::count(begin + static_cast<std::ptrdiff_t>(shared.first),
                             begin + static_cast<std::ptrdiff_t>(shared.last), 1);
  return all ? of == static_cast<std::ptrdiff_t>(shared.last - shared.first) : of > 0;
}

template <class T, class Index, Scope scope> T broadcast(T value, Index from) {
  const Shared shared(scope, value);
  return static_cast<T>(groupUnderWay.values[std::min(shared.first + from, shared.last - 1)]);
}

template <class Function> void* pointer(Function* function) {
  return reinterpret_cast<void*>(function);
}
template <Operation operation, Form form> void* ofInts() {
  return pointer(combine<std::int32_t, operation, form, Scope::WorkGroup>);
}
template <Operation operation, Form form> void* ofUints() {
  return pointer(combine<std::uint32_t, operation, form, Scope::WorkGroup>);
}
template <Operation operation, Form form> void* inSubGroup() {
  return pointer(combine<std::int32_t, operation, form, Scope::SubGroup>);
}

} // namespace

const std::array<void*, groupFunctionNames.size()> groupFunctions = {
    ofInts<Operation::Add, Form::Reduce>(),
    ofUints<Operation::Add, Form::Reduce>(),
    ofInts<Operation::Min, Form::Reduce>(),
    ofUints<Operation::Min, Form::Reduce>(),
    ofInts<Operation::Max, Form::Reduce>(),
    ofUints<Operation::Max, Form::Reduce>(),
    ofInts<Operation::Add, Form::Exclusive>(),
    ofUints<Operation::Add, Form::Exclusive>(),
    ofInts<Operation::Min, Form::Exclusive>(),
    ofUints<Operation::Min, Form::Exclusive>(),
    ofInts<Operation::Max, Form::Exclusive>(),
    ofUints<Operation::Max, Form::Exclusive>(),
    ofInts<Operation::Add, Form::Inclusive>(),
    ofUints<Operation::Add, Form::Inclusive>(),
    ofInts<Operation::Min, Form::Inclusive>(),
    ofUints<Operation::Min, Form::Inclusive>(),
    ofInts<Operation::Max, Form::Inclusive>(),
    ofUints<Operation::Max, Form::Inclusive>(),
    pointer(vote<Scope::WorkGroup, true>),
    pointer(vote<Scope::WorkGroup, false>),
    pointer(broadcast<std::int32_t, std::uint64_t, Scope::WorkGroup>),
    pointer(broadcast<std::uint32_t, std::uint64_t, Scope::WorkGroup>),
    inSubGroup<Operation::Add, Form::Reduce>(),
    inSubGroup<Operation::Min, Form::Reduce>(),
    inSubGroup<Operation::Max, Form::Reduce>(),
    inSubGroup<Operation::Add, Form::Exclusive>(),
    inSubGroup<Operation::Add, Form::Inclusive>(),
    pointer(vote<Scope::SubGroup, true>),
    pointer(vote<Scope::SubGroup, false>),
    pointer(broadcast<std::int32_t, std::uint32_t, Scope::SubGroup>),
};

} // namespace libsplit::oracle
