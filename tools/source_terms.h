// Expressions of a summary as the program's author would write them.
//
// The analysis carries sums of products over ids, loop counters that start at 0 and arguments. Here
// they are told in the program's own variables, ordered for reading: the byte offset of
// `f[(q + 1) * N + i]`, 8*N*k0 + 4*N + 4*G0 for it, becomes 4*(q*N + i) with q = 1..18. To put
// `q` in the place of a counter k, where q = first + step * k, every summand with k in it must be a
// multiple of step; a counter for which that fails is called k and told by its own range.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"

#include <string>
#include <vector>

namespace libsplit {

/// One access in words. Offsets are in bytes, as everywhere.
struct AccessTerms {
  std::string region; ///< "bytes [4*(q*N + i), +4)", or "anywhere: " and the reason
  /// "q = 0..18, stride 4*N" for each loop that the region or a guard depends on.
  std::vector<std::string> loops;
  std::vector<std::string> guards; ///< "i < n"
};
AccessTerms inSourceTerms(const KernelSummary& kernel, const Access& access);

/// "i = get_global_id(0)" for each variable of the program that the accesses are told in.
std::vector<std::string> variablesInSourceTerms(const KernelSummary& kernel,
                                                const std::vector<AccessTerms>& accesses);

} // namespace libsplit
