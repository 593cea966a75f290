// From OpenCL C to a ProgramSummary: front end, analysis and rewriter in one call.
#pragma once

#include "analysis-pass/pass/front_end.h"

namespace libsplit {

/// Never throws on bad programs: what can't be analysed is told in `failure`.
ProgramSummary analyzeProgram(const ProgramInput& input);

/// The IR that the analysis reads, as text; on failure, the reason in `failure`.
std::string preparedIr(const ProgramInput& input, std::string& failure);

} // namespace libsplit
