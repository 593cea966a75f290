// Jacobi in two dimensions, `size` * `size` points, `iterations` steps. A step is a stencil and
// then either a second kernel that copies the result back (variant `copy`, the usual) or an
// exchange of the two buffers (`swap`). Variant `wide` exchanges them too, and has a quarter of the
// rows: as long a halo beside less work.
#include "benchmarks/apps/standing_wave.h"
#include "kernels/jacobi_plane.h"
#include "tests/samples/sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace {

void jacobi2d(sample::Sample& s) {
  const std::string& variant = s.options().variant;
  const bool copies = variant == "copy", isWide = variant == "wide";
  sample::require(copies || isWide || variant == "swap", "--variant is copy, swap or wide");
  const std::size_t width = std::max<std::size_t>(s.options().size, 32);
  const std::size_t height = isWide ? std::max<std::size_t>(width / 4, 32) : width;
  const unsigned steps = s.options().iterations;
  const apps::StandingWave along(width, steps), down(height, steps);
  std::vector<float> values(width * height);
  sample::inParallel(values.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      values[i] = static_cast<float>(down[i / width] * along[i % width]);
  });
  const std::size_t bytes = values.size() * sizeof(float);

  const auto queue = s.queue();
  const auto program = s.program(sample::jacobiPlaneSource);
  const auto stencil = sample::kernel(program, "jacobi_plane");
  const auto copyBack = sample::kernel(program, "copy_back");
  auto now = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, values.data());
  auto next = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, values.data());
  const sample::Sizes local = {32, 4};
  const sample::Sizes global = {sample::roundUp(width, local[0]),
                                sample::roundUp(height, local[1])};
  const auto columns = static_cast<cl_uint>(width), rows = static_cast<cl_uint>(height);
  auto enqueueStep = [&] {
    sample::setArguments(stencil, columns, rows, now, next);
    sample::launch(queue, stencil, global, local);
    if (copies) {
      sample::setArguments(copyBack, columns, rows, next, now);
      sample::launch(queue, copyBack, global, local);
    } else {
      std::swap(now, next);
    }
  };
  for (unsigned step = 0; step < steps; ++step)
    s.timed(queue, enqueueStep);
  sample::read(queue, now, values);

  const double left = std::pow((along.eigenvalue() + down.eigenvalue()) / 2, steps);
  s.verify([&] {
    sample::checkAll(
        values, [&](std::size_t i) { return down[i / width] * along[i % width] * left; },
        along.tolerance(), "point");
  });
  s.output(values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 2048, .iterations = 20, .variant = "copy"}, jacobi2d);
}
