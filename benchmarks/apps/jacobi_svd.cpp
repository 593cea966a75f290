// The singular value decomposition of a matrix of `size` x `size` by `iterations` sweeps of
// one-sided Jacobi rotations: size - 1 launches each, of size / 2 work-groups, which are at other
// columns in every launch.
#include "kernels/jacobi_svd.h"
#include "benchmarks/apps/dense.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>

namespace {

using apps::Vector;

constexpr std::size_t groupSize = 32;

void jacobiSvd(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(sample::roundUp(s.options().size, 2), 4);
  const apps::Matrix a(s, n, 1);
  const std::size_t length = 2 * n;
  std::vector<float> data(n * length);
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t row = 0; row < n; ++row)
      data[column * length + row] = a(row, column);
    data[column * length + n + column] = 1;
  }

  const auto queue = s.queue();
  const auto program = s.program(sample::jacobiSvdSource);
  const auto kernel = sample::kernel(program, "rotate_pairs");
  const auto buffer = s.copyOf(data);
  for (unsigned sweep = 0; sweep < s.options().iterations; ++sweep)
    s.timed(queue, [&] {
      for (cl_uint step = 0; step + 1 < n; ++step) {
        sample::setArguments(kernel, static_cast<cl_uint>(n), static_cast<cl_uint>(n), step, buffer,
                             sample::Local{3 * groupSize * sizeof(float)});
        sample::launch(queue, kernel, {n / 2 * groupSize}, {groupSize});
      }
    });
  sample::read(queue, buffer, data);
  s.verify([&] {
    // The columns are a times the rotations, whatever the number of sweeps ...
    const Vector x = apps::randomVector(n);
    Vector rotated(n), columns(n);
    for (std::size_t column = 0; column < n; ++column)
      for (std::size_t row = 0; row < n; ++row) {
        columns[row] += x[column] * data[column * length + row];
        rotated[row] += x[column] * data[column * length + n + row];
      }
    const Vector expected = a.times(rotated);
    for (std::size_t row = 0; row < n; ++row)
      sample::checkClose(columns[row], expected[row], 1e-3, "(a v x)", row);
    // ... and after a few of them they are orthogonal.
    if (s.options().iterations < (n > 128 ? 10 : 8))
      return;
    auto product = [&](std::size_t i, std::size_t k) {
      double sum = 0;
      for (std::size_t row = 0; row < n; ++row)
        sum += double{data[i * length + row]} * data[k * length + row];
      return sum;
    };
    for (std::size_t probe = 0; probe < 512; ++probe) {
      const std::size_t i = sample::randomBits(probe, 1) % n, k = sample::randomBits(probe, 2) % n;
      if (i != k)
        sample::checkClose(product(i, k) / std::sqrt(product(i, i) * product(k, k)), 0, 1e-3,
                           "cosine", i);
    }
  });
  s.output(data);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 256, .iterations = 10}, jacobiSvd);
}
