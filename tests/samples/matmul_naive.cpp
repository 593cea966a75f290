// c = a * b, n x n. Non-blocking writes, a 2-D NDRange of 16 x 16 groups, blocking read.
#include "kernels/matmul_naive.h"
#include "tests/samples/sample.h"

#include <algorithm>

namespace {

void matmulNaive(sample::Sample& s) {
  const std::size_t n = sample::roundUp(s.options().size, 16);
  const std::vector<float> a = sample::randomFloats(n * n, -1, 1, 1);
  const std::vector<float> b = sample::randomFloats(n * n, -1, 1, 2);
  std::vector<float> c(n * n);

  const auto queue = s.queue();
  const auto program = s.program(sample::matmulNaiveSource);
  const auto kernel = sample::kernel(program, "matmul_naive");
  const auto aBuffer = s.buffer(CL_MEM_READ_ONLY, n * n * sizeof(float));
  const auto bBuffer = s.buffer(CL_MEM_READ_ONLY, n * n * sizeof(float));
  const auto cBuffer = s.buffer(CL_MEM_READ_WRITE, n * n * sizeof(float));
  sample::write(queue, aBuffer, a);
  sample::write(queue, bBuffer, b);
  sample::setArguments(kernel, static_cast<cl_int>(n), aBuffer, bBuffer, cBuffer);

  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] { sample::launch(queue, kernel, {n, n}, {16, 16}); });
  sample::read(queue, cBuffer, c);

  // Some elements, so that the check stays cheap at any size.
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
  return sample::run(argc, argv, {.size = 192, .iterations = 2}, matmulNaive);
}
