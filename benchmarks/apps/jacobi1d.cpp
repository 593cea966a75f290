// Jacobi in one dimension, `size` points, `iterations` steps. A step is a stencil and then either a
// second kernel that copies the result back (variant `copy`, the usual) or an exchange of the two
// buffers (`swap`).
#include "kernels/jacobi1d.h"
#include "benchmarks/apps/standing_wave.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace {

constexpr std::size_t groupSize = 256;

void jacobi1d(sample::Sample& s) {
  const bool swaps = s.options().variant == "swap";
  sample::require(swaps || s.options().variant == "copy", "--variant is copy or swap");
  const auto n = static_cast<cl_uint>(std::max<std::size_t>(s.options().size, 2 * groupSize));
  const unsigned steps = s.options().iterations;
  const apps::StandingWave wave(n, steps);
  std::vector<float> values(n);
  sample::inParallel(n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      values[i] = static_cast<float>(wave[i]);
  });

  const auto queue = s.queue();
  const auto program = s.program(sample::jacobi1dSource);
  const auto stencil = sample::kernel(program, "jacobi1d");
  const auto copyBack = sample::kernel(program, "copy_back");
  auto now = s.buffer(CL_MEM_COPY_HOST_PTR, n * sizeof(float), values.data());
  auto next = s.buffer(CL_MEM_COPY_HOST_PTR, n * sizeof(float), values.data());
  const sample::Sizes global = {sample::roundUp(n, groupSize)};
  for (unsigned step = 0; step < steps; ++step)
    s.timed(queue, [&] {
      sample::setArguments(stencil, n, now, next);
      sample::launch(queue, stencil, global, {groupSize});
      if (swaps) {
        std::swap(now, next);
      } else {
        sample::setArguments(copyBack, n, next, now);
        sample::launch(queue, copyBack, global, {groupSize});
      }
    });
  sample::read(queue, now, values);

  const double left = std::pow((1 + 2 * wave.eigenvalue()) / 3, steps);
  sample::inParallel(n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      sample::checkClose(values[i], wave[i] * left, wave.tolerance(), "point", i);
  });
  s.output(values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 22, .iterations = 20, .variant = "copy"}, jacobi1d);
}
