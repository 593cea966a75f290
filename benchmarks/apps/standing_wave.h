// A start for Jacobi iterations whose end is known in closed form.
//
// sin(pi p x / (n - 1)) is zero at both ends and an eigenvector of the step that takes the mean of
// both neighbours, with eigenvalue cos(pi p / (n - 1)). So after k steps every point has its first
// value times a power, and one pass over the result checks all of it. The mode p is chosen such
// that about half of the amplitude is left at the end: then a single step that one point missed
// shows.
#pragma once

#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

namespace apps {

class StandingWave {
public:
  StandingWave(std::size_t points, unsigned steps)
      : steps_(std::max(steps, 1U)), interval_(static_cast<double>(points - 1)), values_(points) {
    const double angle = std::acos(std::pow(0.5, 1.0 / steps_));
    mode_ = std::max(1.0, std::round(angle * interval_ / std::numbers::pi));
    // Between the exact ones by rotation, ten times as fast.
    constexpr std::size_t exactly = 1024;
    const double step = std::numbers::pi * mode_ / interval_;
    const std::complex<double> turn = std::polar(1.0, step);
    auto fill = [&](std::size_t begin, std::size_t end) {
      std::complex<double> at;
      for (std::size_t i = begin; i < end; ++i) {
        at = i % exactly == 0 ? std::polar(1.0, step * static_cast<double>(i)) : at * turn;
        values_[i] = at.imag();
      }
    };
    sample::inParallel(points, fill, exactly);
    values_.front() = values_.back() = 0;
  }

  double operator[](std::size_t i) const { return values_[i]; }
  /// The mean of a point's neighbours by its own value.
  double eigenvalue() const { return std::cos(std::numbers::pi * mode_ / interval_); }
  /// What single precision may lose, by about the last bit in each step.
  double tolerance() const { return 1e-5 + 1e-7 * steps_; }

private:
  unsigned steps_;
  double interval_;
  double mode_ = 1;
  std::vector<double> values_;
};

} // namespace apps
