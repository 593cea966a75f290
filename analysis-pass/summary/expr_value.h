// The value of an expression over a domain: an affine form where that is exact, else an interval.
#pragma once

#include "analysis-pass/summary/contents.h"
#include "analysis-pass/summary/domain.h"
#include "analysis-pass/summary/evaluate.h"
#include "analysis-pass/summary/expr.h"

namespace libsplit {

/// What a launch knows besides the ids.
struct LaunchValues {
  const NDRange& range;
  std::span<const ArgumentValue> arguments;
  std::array<std::uint64_t, 3> localSize; ///< get_local_size in this part of the launch
  Contents* contents = nullptr;           ///< null: no contents are known
};

/// `expr` at every point of `domain`; division may give the domain new digits. Nothing is thrown
/// and nothing allocated.
Form valueOf(const Expr& expr, Domain& domain, const LaunchValues& launch);

/// The same of an access's offset. There unsigned sums that wrap are known as what they wrap to: an
/// index one row above the first is not just anywhere, it is beyond the buffer.
Form placeOf(const Expr& offset, Domain& domain, const LaunchValues& launch);

/// The number that an Argument is; nothing if the launch gives that argument no such bits.
std::optional<Int> argumentValue(const Expr& argument, std::span<const ArgumentValue> arguments);

/// The words for `cause`, in a kernel with these parameters.
std::string describe(const Cause& cause, std::span<const Parameter> parameters);

} // namespace libsplit
