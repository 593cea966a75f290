#include "runtime/core/text_table.h"

#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <sstream>

namespace libsplit::runtime {

std::string percentText(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * part);
  return text;
}

std::string durationText(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.3f s", seconds);
  return text;
}

std::string amountText(std::uint64_t bytes) {
  char text[32];
  const auto value = static_cast<double>(bytes);
  if (bytes < 10'000)
    std::snprintf(text, sizeof text, "%.0f B", value);
  else if (bytes < 10'000'000)
    std::snprintf(text, sizeof text, "%.1f kB", value / 1e3);
  else
    std::snprintf(text, sizeof text, "%.1f MB", value / 1e6);
  return text;
}

std::string textTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  std::ostringstream text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text << (i ? "  " : "") << (i ? std::right : std::left)
           << std::setw(static_cast<int>(widths[i])) << row[i];
    text << "\n";
  }
  return text.str();
}

} // namespace libsplit::runtime
