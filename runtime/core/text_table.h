// Figures and tables for people, as all of libsplit's reports show them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace libsplit::runtime {

/// "48 %" of 0.48.
std::string percentText(double part);
/// "1.25 ms"; the unit follows the size.
std::string durationText(double seconds);
/// "16.8 MB"; decimal units.
std::string amountText(std::uint64_t bytes);

/// Lines with columns as wide as what is in them. The first column is flush left, the others are
/// flush right. Widths count bytes.
std::string textTable(const std::vector<std::vector<std::string>>& rows);

} // namespace libsplit::runtime
