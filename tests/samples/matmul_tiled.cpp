// c = a * b with tiles in local memory. ALLOC_HOST_PTR inputs filled through map and unmap, local
// memory as kernel argument, the tile size as -D macro.
#include "kernels/matmul_tiled.h"
#include "tests/samples/sample.h"

#include <algorithm>

namespace {

constexpr std::size_t tile = 8;

sample::Memory pinned(const sample::Sample& s, cl_command_queue queue,
                      const std::vector<float>& values) {
  const std::size_t bytes = values.size() * sizeof(float);
  auto buffer = s.buffer(CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, bytes);
  cl_int error = CL_SUCCESS;
  void* mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                    bytes, 0, nullptr, nullptr, &error);
  sample::check(error, "clEnqueueMapBuffer");
  std::copy(values.begin(), values.end(), static_cast<float*>(mapped));
  sample::check(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, nullptr, nullptr), "unmap");
  return buffer;
}

void matmulTiled(sample::Sample& s) {
  const std::size_t n = sample::roundUp(s.options().size, tile);
  const std::vector<float> a = sample::randomFloats(n * n, -1, 1, 1);
  const std::vector<float> b = sample::randomFloats(n * n, -1, 1, 2);
  std::vector<float> c(n * n);

  const auto queue = s.queue();
  const auto program =
      s.program(sample::matmulTiledSource, ("-D TILE=" + std::to_string(tile)).c_str());
  const auto kernel = sample::kernel(program, "matmul_tiled");
  const auto aBuffer = pinned(s, queue, a);
  const auto bBuffer = pinned(s, queue, b);
  const auto cBuffer = s.buffer(CL_MEM_WRITE_ONLY, n * n * sizeof(float));
  const sample::Local tileBytes{tile * tile * sizeof(float)};
  sample::setArguments(kernel, static_cast<cl_uint>(n), aBuffer, bBuffer, cBuffer, tileBytes,
                       tileBytes);

  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] { sample::launch(queue, kernel, {n, n}, {tile, tile}); });
  sample::read(queue, cBuffer, c);

  for (std::size_t probe = 0; probe < 4096; ++probe) {
    const std::size_t index = sample::randomBits(probe) % (n * n);
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k)
      sum += double{a[index / n * n + k]} * b[k * n + index % n];
    sample::checkClose(c[index], sum, 1e-4, "c", index);
  }
  s.output(c);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 192, .iterations = 2}, matmulTiled);
}
