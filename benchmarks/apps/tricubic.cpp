// Moves the contents of a cube of `size` points a side, `iterations` times, by fractions of a cell:
// a stencil of 4 x 4 x 4 points that reaches farther up than down. Opposite sides meet.
#include "kernels/tricubic.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <array>
#include <utility>

namespace {

std::array<double, 4> weights(double t) {
  std::array<double, 4> result{};
  for (int k = 0; k < 4; ++k) {
    result[k] = 1;
    for (int other = 0; other < 4; ++other)
      if (other != k)
        result[k] *= (t - (other - 1)) / (k - other);
  }
  return result;
}

using Field = std::vector<float>;

Field moved(const std::array<Field, 3>& shift, const Field& in, std::size_t n) {
  Field out(in.size());
  apps::forEachRow(n * n, [&](std::size_t row) {
    const std::size_t y = row % n, z = row / n;
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t i = row * n + x;
      const auto alongX = weights(shift[0][i]), alongY = weights(shift[1][i]),
                 alongZ = weights(shift[2][i]);
      double sum = 0;
      for (std::size_t k = 0; k < 64; ++k)
        sum += alongX[k % 4] * alongY[k / 4 % 4] * alongZ[k / 16] *
               in[((z + n + k / 16 - 1) % n * n + (y + n + k / 4 % 4 - 1) % n) * n +
                  (x + n + k % 4 - 1) % n];
      out[i] = static_cast<float>(sum);
    }
  });
  return out;
}

void tricubic(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 4), points = n * n * n;
  const std::array<Field, 3> shift = {s.randomFloats(points, 0, 0.1F, 1),
                                      s.randomFloats(points, 0, 0.1F, 2),
                                      s.randomFloats(points, 0, 0.1F, 3)};
  Field field = s.randomFloats(points, -1, 1, 4), result(points);
  const auto queue = s.queue();
  const auto program = s.program(sample::tricubicSource);
  const auto kernel = sample::kernel(program, "tricubic");
  const auto shiftX = s.copyOf(shift[0], CL_MEM_READ_ONLY),
             shiftY = s.copyOf(shift[1], CL_MEM_READ_ONLY),
             shiftZ = s.copyOf(shift[2], CL_MEM_READ_ONLY);
  auto now = s.copyOf(field), next = s.array<float>(points);
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(kernel, static_cast<cl_uint>(n), shiftX, shiftY, shiftZ, now, next);
    s.timed(queue, [&] {
      sample::launch(queue, kernel,
                     {sample::roundUp(n, 16), sample::roundUp(n, 4), sample::roundUp(n, 2)},
                     {16, 4, 2});
    });
    std::swap(now, next);
  }
  sample::read(queue, now, result);
  s.verify([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i)
      field = moved(shift, field, n);
    sample::checkAll(result, [&](std::size_t i) { return field[i]; }, 1e-4, "field");
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 96, .iterations = 10}, tricubic);
}
