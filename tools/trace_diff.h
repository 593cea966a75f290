// Two traces side by side: what another machine, another policy or another version changed.
#pragma once

#include "tools/trace_summary.h"

#include <string>

namespace libsplit::tools {

/// Kernels of the same name are compared: what a split launch takes, shares, idle time, bytes
/// moved. Then whatever is only in one of them: kernels, and reasons for not splitting.
std::string diffText(const TraceSummary& a, const TraceSummary& b);

} // namespace libsplit::tools
