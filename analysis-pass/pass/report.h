// A summary in the analysis' own notation, a line for each access, as its tests read it. What
// people read is tools/explain.h.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"

#include <string>

namespace libsplit {

std::string describe(const KernelSummary& kernel);
std::string describe(const ProgramSummary& program);

} // namespace libsplit
