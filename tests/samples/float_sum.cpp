// Eight sums of floats by compare-exchange loops. The numbers are small and whole, so that the sums
// are exact in any order.
#include "kernels/float_sum.h"
#include "tests/samples/sample.h"

namespace {

void floatSum(sample::Sample& s) {
  const std::size_t n = s.options().size;
  std::vector<float> x(n), expected(8), sums(8);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(sample::randomBits(i) % 64) - 32;
  for (std::size_t k = 0; k < 8; ++k)
    expected[k] = static_cast<float>(k);
  const auto queue = s.queue();
  const auto program = s.program(sample::floatSumSource);
  const auto kernel = sample::kernel(program, "float_sum");
  const auto input = s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, n * sizeof(float), x.data());
  const auto output =
      s.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 8 * sizeof(float), expected.data());
  sample::setArguments(kernel, input, output);
  for (unsigned round = 0; round < s.options().iterations; ++round) {
    sample::launch(queue, kernel, {n}, {64});
    for (std::size_t i = 0; i < n; ++i)
      expected[i % 8] += x[i];
    sample::read(queue, output, sums);
    sample::require(sums == expected, "wrong sums");
    s.output(sums);
  }
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 1 << 15, .iterations = 2}, floatSum);
}
