// Jacobi in two dimensions, `size` * `size` points, `iterations` steps. A step is a stencil and
// then either a second kernel that copies the result back (variant `copy`, the usual) or an
// exchange of the two buffers (`swap`).
#include "benchmarks/apps/standing_wave.h"
#include "kernels/jacobi_plane.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace {

void jacobi2d(sample::Sample& s) {
  const bool swaps = s.options().variant == "swap";
  sample::require(swaps || s.options().variant == "copy", "--variant is copy or swap");
  const std::size_t side = std::max<std::size_t>(s.options().size, 32);
  const unsigned steps = s.options().iterations;
  const apps::StandingWave wave(side, steps);
  std::vector<float> values(side * side);
  sample::inParallel(values.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      values[i] = static_cast<float>(wave[i / side] * wave[i % side]);
  });
  const std::size_t bytes = values.size() * sizeof(float);

  const auto queue = s.queue();
  const auto program = s.program(sample::jacobiPlaneSource);
  const auto stencil = sample::kernel(program, "jacobi_plane");
  const auto copyBack = sample::kernel(program, "copy_back");
  auto now = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, values.data());
  auto next = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, values.data());
  const sample::Sizes local = {32, 4};
  const sample::Sizes global = {sample::roundUp(side, local[0]), sample::roundUp(side, local[1])};
  auto enqueueStep = [&] {
    sample::setArguments(stencil, static_cast<cl_uint>(side), now, next);
    sample::launch(queue, stencil, global, local);
    if (swaps) {
      std::swap(now, next);
    } else {
      sample::setArguments(copyBack, static_cast<cl_uint>(side), next, now);
      sample::launch(queue, copyBack, global, local);
    }
  };
  for (unsigned step = 0; step < steps; ++step)
    s.timed(queue, enqueueStep);
  sample::read(queue, now, values);

  const double left = std::pow(wave.eigenvalue(), steps);
  sample::inParallel(values.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      sample::checkClose(values[i], wave[i / side] * wave[i % side] * left, wave.tolerance(),
                         "point", i);
  });
  s.output(values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 2048, .iterations = 20, .variant = "copy"}, jacobi2d);
}
