// The latest of many readings. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace libsplit::runtime {

template <std::size_t most> class Latest {
public:
  void note(double reading) { readings_[count_++ % most] = reading; }
  /// In no order; as many as there were so far, if those are fewer than `most`.
  std::span<const double> known() const {
    return std::span(readings_).first(std::min(count_, most));
  }
  /// The one that so many times `known().size()` are less than or equal to. There is one.
  double quantile(double part) const {
    auto sorted = readings_;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(known().size());
    const auto nth =
        sorted.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(known().size()));
    std::nth_element(sorted.begin(), nth, end);
    return *nth;
  }

private:
  std::array<double, most> readings_{};
  std::size_t count_ = 0; ///< so far
};

} // namespace libsplit::runtime
