// y = alpha * x + y in place, on memory of the program's own (USE_HOST_PTR). Each pass is two
// launches, the second with a global offset; the result is read by map.
#include "kernels/saxpy.h"
#include "tests/samples/sample.h"

namespace {

void saxpy(sample::Sample& s) {
  const std::size_t n = s.options().size;
  const std::size_t half = n / 2 / 64 * 64;
  std::vector<float> x = sample::randomFloats(n, -1, 1, 1);
  std::vector<float> y = sample::randomFloats(n, -1, 1, 2);
  std::vector<float> expected = y;

  const auto queue = s.queue();
  const auto program = s.program(sample::saxpySource, "-cl-mad-enable");
  const auto kernel = sample::kernel(program, "saxpy");
  const std::size_t bytes = n * sizeof(float);
  const auto xBuffer = s.buffer(CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, bytes, x.data());
  const auto yBuffer = s.buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, y.data());

  for (unsigned i = 0; i < s.options().iterations; ++i) {
    const float alpha = 0.5F + static_cast<float>(i);
    sample::setArguments(kernel, alpha, xBuffer, yBuffer);
    sample::launch(queue, kernel, {half}, {64});
    sample::launch(queue, kernel, {n - half}, {64}, {half});
    for (std::size_t k = 0; k < n; ++k)
      expected[k] = alpha * x[k] + expected[k];
  }

  cl_int error = CL_SUCCESS;
  auto* mapped = static_cast<float*>(clEnqueueMapBuffer(queue, yBuffer, CL_TRUE, CL_MAP_READ, 0,
                                                        bytes, 0, nullptr, nullptr, &error));
  sample::check(error, "clEnqueueMapBuffer");
  for (std::size_t k = 0; k < n; ++k)
    sample::checkClose(mapped[k], expected[k], 1e-5, "y", k);
  s.output(mapped, bytes);
  sample::check(clEnqueueUnmapMemObject(queue, yBuffer, mapped, 0, nullptr, nullptr), "unmap");
  sample::check(clFinish(queue), "clFinish");
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 18, .iterations = 4}, saxpy);
}
