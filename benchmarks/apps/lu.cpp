// Factors a `size` x `size` matrix into a lower and an upper triangular one, in place; each
// iteration factors all of it. The NDRange begins one row and one column later each time, so that
// what a device worked on in the last launch is not what the same share gives it in the next.
#include "kernels/lu.h"
#include "benchmarks/apps/dense.h"
#include "tests/samples/sample.h"

namespace {

using apps::Matrix;
using apps::Vector;

constexpr std::size_t groupSize = 16;

void lu(sample::Sample& s) {
  const std::size_t n = s.options().size;
  Matrix a(s, n, 1), factors(n);
  for (std::size_t i = 0; i < n; ++i) // dominant, so that no pivot is small
    a.values[i * n + i] += static_cast<float>(n) / 8;
  const std::size_t bytes = n * n * sizeof(float);

  const auto queue = s.queue();
  const auto program = s.program(sample::luSource);
  const auto divide = sample::kernel(program, "divide");
  const auto subtract = sample::kernel(program, "subtract");
  const auto given = s.copyOf(a.values, CL_MEM_READ_ONLY);
  const auto buffer = s.array<float>(n * n);
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::check(clEnqueueCopyBuffer(queue, given, buffer, 0, 0, bytes, 0, nullptr, nullptr),
                    "clEnqueueCopyBuffer");
      for (std::size_t k = 0; k + 1 < n; ++k) {
        sample::setArguments(divide, static_cast<cl_uint>(n), static_cast<cl_uint>(k), buffer);
        const std::size_t global = sample::roundUp(n - k - 1, groupSize);
        sample::launch(queue, divide, {global}, {groupSize}, {k + 1});
        sample::setArguments(subtract, static_cast<cl_uint>(n), static_cast<cl_uint>(k), buffer);
        sample::launch(queue, subtract, {global, global}, {groupSize, groupSize}, {k + 1, k + 1});
      }
    });
  sample::read(queue, buffer, factors.values);
  s.verify([&] {
    Matrix lower(n), upper(n);
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t column = 0; column < n; ++column) {
        lower.values[row * n + column] = column < row ? factors(row, column) : column == row;
        upper.values[row * n + column] = column < row ? 0 : factors(row, column);
      }
    const Vector x = apps::randomVector(n);
    sample::checkAll(lower.times(upper.times(x)), a.times(x), 1e-3, "(l u x)");
  });
  s.output(factors.values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 512, .iterations = 3}, lu);
}
