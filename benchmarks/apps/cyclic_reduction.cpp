// Solves a tridiagonal system of 2^size - 1 unknowns by cyclic reduction, `iterations` times: each
// launch has half as many work-items as the last one and works on elements twice as far apart, then
// all the way back.
#include "kernels/cyclic_reduction.h"
#include "tests/samples/sample.h"

#include <algorithm>

namespace {

constexpr std::size_t groupSize = 64;

void cyclicReduction(sample::Sample& s) {
  sample::require(s.options().size >= 2 && s.options().size <= 28,
                  "--size is the binary logarithm of the unknowns, and of one more");
  const std::size_t n = (std::size_t{1} << s.options().size) - 1;
  std::vector<float> lower = s.randomFloats(n, -1, 1, 1), upper = s.randomFloats(n, -1, 1, 2);
  const std::vector<float> diagonal = s.randomFloats(n, 2.5F, 4, 3),
                           right = s.randomFloats(n, -1, 1, 4);
  lower.front() = upper.back() = 0;

  const auto queue = s.queue();
  const auto program = s.program(sample::cyclicReductionSource);
  const auto reduce = sample::kernel(program, "reduce");
  const auto substitute = sample::kernel(program, "substitute");
  const auto a = s.array<float>(n), b = s.array<float>(n), c = s.array<float>(n),
             d = s.array<float>(n), x = s.array<float>(n);
  auto enqueue = [&](const sample::Kernel& kernel, std::size_t stride, std::size_t items) {
    sample::setArguments(kernel, static_cast<cl_uint>(n), static_cast<cl_uint>(stride), a, b, c, d);
    if (&kernel == &substitute)
      sample::setArgument(kernel, 6, x);
    sample::launch(queue, kernel, {sample::roundUp(items, groupSize)}, {groupSize});
  };
  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::write(queue, a, lower);
    sample::write(queue, b, diagonal);
    sample::write(queue, c, upper);
    sample::write(queue, d, right);
    s.timed(queue, [&] {
      const std::size_t half = (n + 1) / 2;
      for (std::size_t stride = 1; stride < half; stride *= 2)
        enqueue(reduce, stride, half / stride);
      for (std::size_t stride = half; stride > 0; stride /= 2)
        enqueue(substitute, stride, half / stride);
    });
  }
  std::vector<float> result(n);
  sample::read(queue, x, result);
  s.verify([&] {
    for (std::size_t i = 0; i < n; ++i) {
      double sum = double{diagonal[i]} * result[i];
      sum += i > 0 ? double{lower[i]} * result[i - 1] : 0;
      sum += i + 1 < n ? double{upper[i]} * result[i + 1] : 0;
      sample::checkClose(sum, right[i], 1e-4, "right side", i);
    }
  });
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 20, .iterations = 5}, cyclicReduction);
}
