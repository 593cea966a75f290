// sum = a + b. COPY_HOST_PTR inputs, NULL local size, one blocking read per launch.
#include "kernels/vector_add.h"
#include "tests/samples/sample.h"

#include <algorithm>

namespace {

void vectorAdd(sample::Sample& s) {
  const std::size_t n = s.options().size;
  std::vector<float> a = sample::randomFloats(n, -1, 1, 1);
  std::vector<float> b = sample::randomFloats(n, -1, 1, 2);
  std::vector<float> sum(n);

  const auto queue = s.queue();
  const auto program = s.program(sample::vectorAddSource);
  const auto kernel = sample::kernel(program, "vector_add");
  const std::size_t bytes = n * sizeof(float);
  const auto aBuffer = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, a.data());
  const auto bBuffer = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, b.data());
  const auto sumBuffer = s.buffer(CL_MEM_WRITE_ONLY, bytes);
  sample::setArguments(kernel, aBuffer, bBuffer, sumBuffer);

  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::launch(queue, kernel, {n});
    std::fill(sum.begin(), sum.end(), -1.0F);
    sample::read(queue, sumBuffer, sum);
    for (std::size_t k = 0; k < n; ++k)
      sample::checkClose(sum[k], a[k] + b[k], 0, "sum", k);
    s.output(sum);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 18, .iterations = 3}, vectorAdd);
}
