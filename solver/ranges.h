// Ranges of positions in an NDRange, as parts of it.
#pragma once

#include <algorithm>

namespace libsplit::solver {

/// The length of what [begin, end) has beside [oldBegin, oldEnd): what has to come to a device when
/// its cuts move.
inline double newPart(double begin, double end, double oldBegin, double oldEnd) {
  const double kept = std::max(0.0, std::min(end, oldEnd) - std::max(begin, oldBegin));
  return std::max(0.0, end - begin - kept);
}

} // namespace libsplit::solver
