// Poisson's equation on a square of `size` points a side by `iterations` steps of conjugate
// gradients without a matrix: three kernels a step, and the host waits for two sums in each.
#include "kernels/conjugate_gradient.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <cmath>
#include <numeric>

namespace {

constexpr std::size_t groupSize = 64;

/// b - A x in double precision.
std::vector<double> residual(const std::vector<float>& b, const std::vector<float>& x,
                             std::size_t side) {
  std::vector<double> result(b.begin(), b.end());
  apps::forEachRow(side, [&](std::size_t row) {
    for (std::size_t column = 0; column < side; ++column) {
      const std::size_t i = row * side + column;
      double sum = 4 * double{x[i]};
      sum -= column > 0 ? x[i - 1] : 0;
      sum -= column + 1 < side ? x[i + 1] : 0;
      sum -= row > 0 ? x[i - side] : 0;
      sum -= row + 1 < side ? x[i + side] : 0;
      result[i] -= sum;
    }
  });
  return result;
}

double square(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

void conjugateGradient(sample::Sample& s) {
  const std::size_t side = s.options().size, n = side * side;
  const std::vector<float> b = s.randomFloats(n, -1, 1);
  std::vector<float> x(n);
  const auto queue = s.queue();
  const auto program = s.program(sample::conjugateGradientSource);
  const auto apply = sample::kernel(program, "apply");
  const auto advance = sample::kernel(program, "advance");
  const auto turn = sample::kernel(program, "turn");
  const auto xBuffer = s.copyOf(x), r = s.copyOf(b), p = s.copyOf(b), q = s.array<float>(n);
  const sample::Sizes global = {sample::roundUp(n, groupSize)}, local = {groupSize};
  std::vector<float> sums(global[0] / groupSize);
  const auto sumBuffer = s.array<float>(sums.size());
  const sample::Local partial{groupSize * sizeof(float)};
  auto total = [&] {
    sample::read(queue, sumBuffer, sums);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  };
  const double first = square({b.begin(), b.end()});
  double now = first;
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::setArguments(apply, static_cast<cl_uint>(side), p, q, sumBuffer, partial);
      sample::launch(queue, apply, global, local);
      const auto alpha = static_cast<float>(now / total());
      sample::setArguments(advance, static_cast<cl_uint>(n), alpha, p, q, xBuffer, r, sumBuffer,
                           partial);
      sample::launch(queue, advance, global, local);
      const double next = total();
      sample::setArguments(turn, static_cast<cl_uint>(n), static_cast<float>(next / now), r, p);
      sample::launch(queue, turn, global, local);
      now = next;
    });
  sample::read(queue, xBuffer, x);
  s.verify([&] {
    // What the recursion takes for the residual is the residual, and there is little left of it.
    const double left = square(residual(b, x, side));
    sample::checkClose(std::sqrt(left / first), std::sqrt(now / first), 1e-4, "residual", 0);
    const double condition = std::pow(static_cast<double>(side + 1) / 3, 2);
    const double factor = (std::sqrt(condition) - 1) / (std::sqrt(condition) + 1);
    const double bound = 2 * std::sqrt(condition) * std::pow(factor, s.options().iterations);
    sample::require(std::sqrt(left / first) <= bound + 1e-4, "it converges too slowly");
  });
  s.output(x);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1024, .iterations = 20}, conjugateGradient);
}
