// How long a device was at what it did in parts, some of which it may have done at once.
#pragma once

#include <algorithm>
#include <limits>

namespace libsplit::tools {

/// No longer than all parts one after the other, nor than from the first start to the last end.
/// In the unit of what is added.
class BusyTime {
public:
  void add(double begin, double end) {
    sum_ += end - begin;
    first_ = std::min(first_, begin);
    last_ = std::max(last_, end);
  }
  double length() const { return std::min(sum_, std::max(last_ - first_, 0.0)); }
  /// Of what its parts took, were they done one after the other: at most 1.
  double part() const { return sum_ > 0 ? length() / sum_ : 1; }

private:
  double sum_ = 0;
  double first_ = std::numeric_limits<double>::infinity();
  double last_ = -std::numeric_limits<double>::infinity();
};

} // namespace libsplit::tools
