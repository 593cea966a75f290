#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace libsplit::tools {

/// The greater of the two in the middle where their number is even; 0 of none.
inline double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace libsplit::tools
