// A summary in words, for people: each access in the source's terms, each unknown with its reason.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"

#include <string>

namespace libsplit {

std::string describe(const KernelSummary& kernel);
std::string describe(const ProgramSummary& program);

} // namespace libsplit
