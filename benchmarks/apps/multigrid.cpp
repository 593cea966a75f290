// Poisson's equation on a square by `iterations` V cycles of multigrid, from 2^`size` points a side
// down to 8. A cycle is some 60 to 90 launches of five kernels; those of the levels below are many
// and short, and each level has buffers of its own.
#include "kernels/multigrid.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace {

constexpr std::size_t coarsest = 8;
constexpr float weight = 0.8F;  ///< of damped Jacobi
constexpr unsigned sweeps = 2;  ///< before and after the level below
constexpr unsigned lowest = 16; ///< sweeps on the coarsest level

using Grid = std::vector<float>;

/// The same on the host.
namespace host {

template <typename Body> void forEach(std::size_t side, const Body& body) {
  apps::forEachRow(side, [&](std::size_t y) {
    for (std::size_t x = 0; x < side; ++x)
      body(x, y);
  });
}

float neighbours(std::size_t side, const Grid& u, std::size_t x, std::size_t y) {
  const std::size_t i = y * side + x;
  return (x > 0 ? u[i - 1] : -u[i]) + (x + 1 < side ? u[i + 1] : -u[i]) +
         (y > 0 ? u[i - side] : -u[i]) + (y + 1 < side ? u[i + side] : -u[i]);
}

float residual(std::size_t side, const Grid& f, const Grid& u, std::size_t x, std::size_t y) {
  return f[y * side + x] - (4 * u[y * side + x] - neighbours(side, u, x, y));
}

void smooth(std::size_t side, const Grid& f, Grid& u, unsigned count) {
  Grid to(u.size());
  for (unsigned i = 0; i < count; ++i) {
    forEach(side, [&](std::size_t x, std::size_t y) {
      const float here = u[y * side + x];
      to[y * side + x] =
          here + weight * (0.25F * (f[y * side + x] + neighbours(side, u, x, y)) - here);
    });
    std::swap(u, to);
  }
}

void solve(std::size_t side, const Grid& f, Grid& u, bool isZero) {
  if (isZero)
    forEach(side, [&](std::size_t x, std::size_t y) {
      u[y * side + x] = weight * 0.25F * f[y * side + x];
    });
  if (side == coarsest)
    return smooth(side, f, u, lowest);
  smooth(side, f, u, sweeps);
  const std::size_t half = side / 2;
  Grid r(side * side), below(half * half), found(half * half);
  forEach(side,
          [&](std::size_t x, std::size_t y) { r[y * side + x] = residual(side, f, u, x, y); });
  forEach(half, [&](std::size_t x, std::size_t y) {
    const std::size_t i = 2 * y * side + 2 * x;
    below[y * half + x] = r[i] + r[i + 1] + r[i + side] + r[i + side + 1];
  });
  solve(half, below, found, true);
  forEach(side, [&](std::size_t x, std::size_t y) {
    const auto at = [&](long cx, long cy) {
      const auto end = static_cast<long>(half);
      return cx >= 0 && cx < end && cy >= 0 && cy < end ? found[cy * end + cx] : 0;
    };
    const auto nx = static_cast<long>(x / 2), ny = static_cast<long>(y / 2);
    const long fx = nx + (x % 2 ? 1 : -1), fy = ny + (y % 2 ? 1 : -1);
    u[y * side + x] +=
        0.5625F * at(nx, ny) + 0.1875F * (at(fx, ny) + at(nx, fy)) + 0.0625F * at(fx, fy);
  });
  smooth(side, f, u, sweeps);
}

/// Of all points, without sign.
double residual(std::size_t side, const Grid& f, const Grid& u) {
  double sum = 0;
  for (std::size_t i = 0; i < side * side; ++i)
    sum += std::abs(residual(side, f, u, i % side, i / side));
  return sum;
}

} // namespace host

/// A level on the device. `u` and `other` change places with each sweep, an even number of times.
struct Level {
  std::size_t side;
  sample::Memory f, u, other;
};

void multigrid(sample::Sample& s) {
  const std::size_t n = std::max(std::size_t{1} << s.options().size, coarsest);
  const Grid f = s.randomFloats(n * n, -1, 1, 1);
  Grid u(n * n), result(n * n);

  const auto queue = s.queue();
  const auto program = s.program(sample::multigridSource);
  const auto smooth = sample::kernel(program, "smooth");
  const auto begin = sample::kernel(program, "begin");
  const auto residual = sample::kernel(program, "residual");
  const auto coarsen = sample::kernel(program, "coarsen");
  const auto correct = sample::kernel(program, "correct");

  std::vector<Level> levels;
  for (std::size_t side = n; side >= coarsest; side /= 2) {
    const std::size_t points = side * side;
    if (side == n)
      levels.push_back({side, s.copyOf(f), s.copyOf(u), s.array<float>(points)});
    else
      levels.push_back(
          {side, s.array<float>(points), s.array<float>(points), s.array<float>(points)});
  }
  const auto launch = [&](cl_kernel kernel, std::size_t side) {
    sample::launch(queue, kernel, {side, side}, {std::min<std::size_t>(side, 32), 4});
  };
  const auto relax = [&](Level& level, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      sample::setArguments(smooth, static_cast<cl_uint>(level.side), weight, level.f, level.u,
                           level.other);
      launch(smooth, level.side);
      std::swap(level.u, level.other);
    }
  };
  const auto cycle = [&] {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      Level& level = levels[l];
      const auto side = static_cast<cl_uint>(level.side);
      if (l > 0) {
        sample::setArguments(begin, side, weight, level.f, level.u);
        launch(begin, level.side);
      }
      if (l + 1 == levels.size()) {
        relax(level, lowest);
        break;
      }
      relax(level, sweeps);
      sample::setArguments(residual, side, level.f, level.u, level.other);
      launch(residual, level.side);
      sample::setArguments(coarsen, side / 2, level.other, levels[l + 1].f);
      launch(coarsen, level.side / 2);
    }
    for (std::size_t l = levels.size() - 1; l-- > 0;) {
      Level& level = levels[l];
      sample::setArguments(correct, static_cast<cl_uint>(level.side), levels[l + 1].u, level.u);
      launch(correct, level.side);
      relax(level, sweeps);
    }
  };
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, cycle);
  sample::read(queue, levels.front().u, result);
  s.verify([&] {
    const double before = host::residual(n, f, u);
    for (unsigned i = 0; i < s.options().iterations; ++i)
      host::solve(n, f, u, false);
    const float largest =
        std::abs(*std::ranges::max_element(u, {}, [](float x) { return std::abs(x); }));
    sample::require(std::ranges::equal(result, u,
                                       [&](float is, float expected) {
                                         return std::abs(is - expected) <= 1e-4F * largest;
                                       }),
                    "u is wrong");
    sample::require(host::residual(n, f, result) < 0.1 * before, "it does not converge");
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 10, .iterations = 10}, multigrid);
}
