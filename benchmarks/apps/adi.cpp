// Heat in a square of `size` x `size` points through `iterations` steps by alternating directions:
// rows are solved in one half of a step, columns in the other. Cut into rows both times, the second
// half works on what other devices have; cut as each half wants it, all of the data has to move.
//
// The start is an eigenvector of the step, so that the result is known in closed form.
#include "kernels/adi.h"
#include "tests/samples/sample.h"

#include <cmath>
#include <numbers>

namespace {

constexpr std::size_t groupSize = 16;
constexpr float r = 0.4F; // of diffusivity, half a step's time and the square of the spacing

void adi(sample::Sample& s) {
  const std::size_t n = s.options().size;
  // Long waves, that are still there after many steps, of two lengths.
  auto wave = [n](std::size_t k, double mode) {
    return std::sin(std::numbers::pi * mode * static_cast<double>(k + 1) /
                    static_cast<double>(n + 1));
  };
  auto curvature = [n](double mode) {
    const double sine = std::sin(std::numbers::pi * mode / static_cast<double>(2 * (n + 1)));
    return 4 * r * sine * sine;
  };
  std::vector<float> values(n * n), upper(n);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(wave(i % n, 2) * wave(i / n, 3));
  for (std::size_t k = 0; k < n; ++k)
    upper[k] = -r / (1 + 2 * r + r * (k > 0 ? upper[k - 1] : 0));

  const auto queue = s.queue();
  const auto program = s.program(sample::adiSource);
  const auto explicitColumns = sample::kernel(program, "explicit_columns");
  const auto explicitRows = sample::kernel(program, "explicit_rows");
  const auto solveRows = sample::kernel(program, "solve_rows");
  const auto solveColumns = sample::kernel(program, "solve_columns");
  const auto u = s.copyOf(values), right = s.array<float>(n * n);
  const auto upperBuffer = s.copyOf(upper, CL_MEM_READ_ONLY);
  const auto side = static_cast<cl_uint>(n);
  const std::size_t rounded = sample::roundUp(n, groupSize);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::setArguments(explicitColumns, side, r, u, right);
      sample::launch(queue, explicitColumns, {rounded, rounded}, {groupSize, groupSize});
      sample::setArguments(solveRows, side, r, upperBuffer, right, u);
      sample::launch(queue, solveRows, {rounded}, {groupSize});
      sample::setArguments(explicitRows, side, r, u, right);
      sample::launch(queue, explicitRows, {rounded, rounded}, {groupSize, groupSize});
      sample::setArguments(solveColumns, side, r, upperBuffer, right, u);
      sample::launch(queue, solveColumns, {rounded}, {groupSize});
    });
  sample::read(queue, u, values);
  s.verify([&] {
    const double x = curvature(2), y = curvature(3);
    const double left = std::pow((1 - y) / (1 + x) * (1 - x) / (1 + y), s.options().iterations);
    sample::checkAll(
        values, [&](std::size_t i) { return left * wave(i % n, 2) * wave(i / n, 3); },
        1e-5 * (1 + s.options().iterations), "temperature");
  });
  s.output(values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1024, .iterations = 10}, adi);
}
