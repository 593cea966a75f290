// Square matrices on the host, as far as checks need them.
//
// A product of matrices is checked as Freivalds does (1977): c = a * b holds if c * x = a * (b * x)
// for a random vector x, but for one chance in many. That looks at every element of c and takes a
// time that grows as c does.
#pragma once

#include "tests/samples/sample.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace apps {

using Vector = std::vector<double>;

/// Row-major, n x n.
struct Matrix {
  std::size_t n;
  std::vector<float> values;

  explicit Matrix(std::size_t side) : n(side), values(side * side) {}

  /// Elements such that products with it keep the size of a vector's elements.
  Matrix(const sample::Sample& s, std::size_t side, std::uint64_t stream)
      : n(side), values(s.randomFloats(side * side, -1, 1, stream)) {
    const float scale = std::sqrt(3.0F / static_cast<float>(n));
    for (float& value : values)
      value *= scale;
  }

  float operator()(std::size_t row, std::size_t column) const { return values[row * n + column]; }

  Vector times(const Vector& x) const {
    Vector y(n);
    sample::inParallel(
        n,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t row = begin; row < end; ++row)
            for (std::size_t k = 0; k < n; ++k)
              y[row] += double{values[row * n + k]} * x[k];
        },
        16);
    return y;
  }

  Vector transposedTimes(const Vector& x) const {
    Vector y(n);
    sample::inParallel(
        n,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t k = 0; k < n; ++k)
            for (std::size_t column = begin; column < end; ++column)
              y[column] += double{values[k * n + column]} * x[k];
        },
        16);
    return y;
  }
};

inline Vector randomVector(std::size_t n) {
  Vector x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = sample::randomFloat(i, -1, 1, 97);
  return x;
}

/// alpha * x + beta * y
inline Vector sum(double alpha, Vector x, double beta, const Vector& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = alpha * x[i] + beta * y[i];
  return x;
}

} // namespace apps
