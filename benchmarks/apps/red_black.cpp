// Poisson's equation on a square of `size` points a side by `iterations` steps of red-black
// over-relaxation, a kernel for each colour. It works in place: between two rows of one device's
// lies nothing that only another device writes, but every second point of the row next to them
// does.
#include "kernels/red_black.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace {

void redBlack(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 3);
  const double spacing = 1.0 / static_cast<double>(n - 1);
  const auto omega = static_cast<float>(2 / (1 + std::sin(std::numbers::pi * spacing)));
  const auto square = static_cast<float>(spacing * spacing);
  std::vector<float> u = s.randomFloats(n * n, -1, 1, 1), result(n * n);
  const std::vector<float> f = s.randomFloats(n * n, -1, 1, 2);

  const auto queue = s.queue();
  const auto program = s.program(sample::redBlackSource);
  const auto relax = sample::kernel(program, "relax");
  const auto uBuffer = s.copyOf(u), fBuffer = s.copyOf(f, CL_MEM_READ_ONLY);
  const sample::Sizes local = {32, 4};
  const sample::Sizes global = {sample::roundUp(n / 2, local[0]), sample::roundUp(n - 2, local[1])};
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      for (cl_uint colour : {0U, 1U}) {
        sample::setArguments(relax, static_cast<cl_uint>(n), colour, omega, square, fBuffer,
                             uBuffer);
        sample::launch(queue, relax, global, local);
      }
    });
  sample::read(queue, uBuffer, result);
  s.verify([&] {
    for (unsigned i = 0; i < 2 * s.options().iterations; ++i)
      apps::forEachRow(n - 2, [&](std::size_t row) {
        const std::size_t y = row + 1;
        for (std::size_t x = 1 + (y + 1 + i) % 2; x + 1 < n; x += 2) {
          float& at = u[y * n + x];
          const float mean = 0.25F * ((&at)[-1] + (&at)[1] + u[(y - 1) * n + x] +
                                      u[(y + 1) * n + x] - square * f[y * n + x]);
          at += omega * (mean - at);
        }
      });
    sample::checkAll(result, [&](std::size_t i) { return u[i]; }, 1e-4, "u");
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 2048, .iterations = 20}, redBlack);
}
