// Jacobi steps on a square grid with ping-pong buffers. Only the last grid is read, so that
// between steps nothing but halo rows has a reason to travel.
#include "kernels/jacobi2d.h"
#include "tests/samples/sample.h"

#include <utility>

namespace {

void stepOnHost(std::size_t n, const std::vector<float>& in, std::vector<float>& out) {
  for (std::size_t y = 1; y + 1 < n; ++y)
    for (std::size_t x = 1; x + 1 < n; ++x) {
      const std::size_t i = y * n + x;
      out[i] = 0.25F * (in[i - n] + in[i + n] + in[i - 1] + in[i + 1]);
    }
}

void jacobi2d(sample::Sample& s) {
  const std::size_t n = sample::roundUp(s.options().size, 16);
  std::vector<float> grid = sample::randomFloats(n * n, 0, 100, 1);
  const std::size_t bytes = grid.size() * sizeof(float);

  const auto queue = s.queue();
  const auto program = s.program(sample::jacobi2dSource);
  const auto kernel = sample::kernel(program, "jacobi2d");
  auto in = s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, grid.data());
  auto out = s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, grid.data());

  for (unsigned step = 0; step < s.options().iterations; ++step) {
    sample::setArguments(kernel, static_cast<cl_int>(n), static_cast<cl_int>(n), in, out);
    sample::launch(queue, kernel, {n, n}, {16, 16});
    std::swap(in, out);
  }
  std::vector<float> result(n * n);
  sample::read(queue, in, result);

  std::vector<float> expected = grid;
  for (unsigned step = 0; step < s.options().iterations; ++step) {
    stepOnHost(n, grid, expected);
    std::swap(grid, expected);
  }
  for (std::size_t i = 0; i < n * n; ++i)
    sample::checkClose(result[i], grid[i], 1e-5, "grid", i);
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 256, .iterations = 50}, jacobi2d);
}
