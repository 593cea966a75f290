// The interchange form of ProgramSummary between splitc, its cache and the runtime. Text,
// versioned, specified in FORMAT.md. Reading never trusts its input: a malformed or truncated text
// is refused.
#pragma once

#include "analysis-pass/summary/kernel_summary.h"

#include <optional>
#include <string>
#include <string_view>

namespace libsplit {

/// Changes whenever the format or the meaning of a summary does; part of every cache key.
inline constexpr unsigned summaryFormatVersion = 13;

std::string serialize(const ProgramSummary& summary);

/// The summary, or nothing and, in `error` if given, why not. Never throws on bad input.
std::optional<ProgramSummary> parseProgramSummary(std::string_view text,
                                                  std::string* error = nullptr);

} // namespace libsplit
