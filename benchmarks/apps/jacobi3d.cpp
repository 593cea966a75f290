// Jacobi in three dimensions: a seven-point stencil on a cube of `size` points a side, whose two
// buffers are exchanged after each of `iterations` steps. Halos are whole planes.
#include "kernels/jacobi3d.h"
#include "benchmarks/apps/standing_wave.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace {

void jacobi3d(sample::Sample& s) {
  const std::size_t side = std::max<std::size_t>(s.options().size, 16), plane = side * side;
  const unsigned steps = s.options().iterations;
  const apps::StandingWave wave(side, steps);
  auto start = [&](std::size_t i) {
    return wave[i / plane] * wave[i / side % side] * wave[i % side];
  };
  std::vector<float> values(plane * side);
  sample::inParallel(values.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      values[i] = static_cast<float>(start(i));
  });

  const auto queue = s.queue();
  const auto program = s.program(sample::jacobi3dSource);
  const auto stencil = sample::kernel(program, "jacobi_cube");
  auto now = s.copyOf(values), next = s.copyOf(values);
  const sample::Sizes local = {32, 4, 1};
  const sample::Sizes global = {sample::roundUp(side, local[0]), sample::roundUp(side, local[1]),
                                side};
  for (unsigned step = 0; step < steps; ++step) {
    sample::setArguments(stencil, static_cast<cl_uint>(side), now, next);
    s.timed(queue, [&] { sample::launch(queue, stencil, global, local); });
    std::swap(now, next);
  }
  sample::read(queue, now, values);

  const double left = std::pow(wave.eigenvalue(), steps);
  s.verify([&] {
    sample::checkAll(
        values, [&](std::size_t i) { return start(i) * left; }, wave.tolerance(), "point");
  });
  s.output(values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 256, .iterations = 20}, jacobi3d);
}
