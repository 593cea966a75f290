// The value of an expression over a domain: an affine form where that is exact, else an interval.
#pragma once

#include "analysis-pass/summary/domain.h"
#include "analysis-pass/summary/evaluate.h"
#include "analysis-pass/summary/expr.h"

namespace libsplit {

/// What a launch knows besides the ids.
struct LaunchValues {
  const NDRange& range;
  std::span<const ArgumentValue> arguments;
  std::array<std::uint64_t, 3> localSize; ///< get_local_size in this part of the launch
};

/// `expr` at every point of `domain`; division may give the domain new digits. Nothing is thrown
/// and nothing allocated.
Form valueOf(const Expr& expr, Domain& domain, const LaunchValues& launch);

/// The words for `cause`.
std::string describe(const Cause& cause);

} // namespace libsplit
