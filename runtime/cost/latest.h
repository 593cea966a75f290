// The latest of many readings. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace libsplit::runtime {

template <std::size_t most> class Latest {
public:
  void note(double reading) {
    auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(known().size());
    double& oldest = readings_[count_++ % most];
    if (count_ > most) {
      const auto gone = std::lower_bound(sorted_.begin(), end, oldest);
      end = std::move(gone + 1, end, gone);
    }
    oldest = reading;
    const auto place = std::upper_bound(sorted_.begin(), end, reading);
    std::move_backward(place, end, end + 1);
    *place = reading;
  }
  /// In no order; as many as there were so far, if those are fewer than `most`.
  std::span<const double> known() const {
    return std::span(readings_).first(std::min(count_, most));
  }
  bool isFull() const { return count_ >= most; }
  /// The one that so many times `known().size()` are less than or equal to. There is one.
  double quantile(double part) const {
    return sorted_[static_cast<std::size_t>(part * static_cast<double>(known().size()))];
  }

private:
  std::array<double, most> readings_{}; ///< a ring
  std::array<double, most> sorted_{};   ///< the same; asked for far more often than noted
  std::size_t count_ = 0;               ///< so far
};

} // namespace libsplit::runtime
