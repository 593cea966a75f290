// An electromagnetic field on `size` x `size` points through `iterations` steps of three kernels,
// each of which reads what the others write next to its own point.
#include "kernels/fdtd2d.h"
#include "benchmarks/apps/grid.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>

namespace {

float sourceAt(unsigned step) {
  return std::sin(0.3F * static_cast<float>(step));
}

struct Fields {
  std::vector<float> ex, ey, hz;
};

/// The same on the host. Single precision too: what differs is the order of rounding.
void step(Fields& f, std::size_t n, float source) {
  apps::forEachRow(n, [&](std::size_t y) {
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t i = y * n + x;
      if (y > 0)
        f.ex[i] -= 0.5F * (f.hz[i] - f.hz[i - n]);
      if (y == 0)
        f.ey[i] = source;
      else if (x > 0)
        f.ey[i] += 0.5F * (f.hz[i] - f.hz[i - 1]);
    }
  });
  apps::forEachRow(n, [&](std::size_t y) {
    for (std::size_t x = 0; y + 1 < n && x + 1 < n; ++x) {
      const std::size_t i = y * n + x;
      f.hz[i] -= 0.7F * (f.ex[i + n] - f.ex[i] - f.ey[i + 1] + f.ey[i]);
    }
  });
}

void fdtd2d(sample::Sample& s) {
  const std::size_t n = std::max<std::size_t>(s.options().size, 2);
  Fields fields{s.randomFloats(n * n, -1, 1, 1), s.randomFloats(n * n, -1, 1, 2),
                s.randomFloats(n * n, -1, 1, 3)};
  const auto queue = s.queue();
  const auto program = s.program(sample::fdtd2dSource);
  const auto electricX = sample::kernel(program, "electric_x");
  const auto electricY = sample::kernel(program, "electric_y");
  const auto magnetic = sample::kernel(program, "magnetic");
  const auto ex = s.copyOf(fields.ex), ey = s.copyOf(fields.ey), hz = s.copyOf(fields.hz);
  const auto side = static_cast<cl_uint>(n);
  const sample::Sizes local = {32, 4}, global = {sample::roundUp(n, 32), sample::roundUp(n, 4)};
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::setArguments(electricX, side, side, hz, ex);
      sample::launch(queue, electricX, global, local);
      sample::setArguments(electricY, side, side, sourceAt(i), hz, ey);
      sample::launch(queue, electricY, global, local);
      sample::setArguments(magnetic, side, side, ex, ey, hz);
      sample::launch(queue, magnetic, global, local);
    });

  std::vector<float> result(n * n);
  sample::read(queue, hz, result);
  s.verify([&] {
    for (unsigned i = 0; i < s.options().iterations; ++i)
      step(fields, n, sourceAt(i));
    sample::checkAll(result, [&](std::size_t i) { return fields.hz[i]; }, 1e-4, "hz");
  });
  s.output(result);
  sample::read(queue, ex, result);
  s.output(result);
  sample::read(queue, ey, result);
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 2048, .iterations = 20}, fdtd2d);
}
