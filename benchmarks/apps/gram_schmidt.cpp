// Factors a `size` x `size` matrix into an orthogonal and an upper triangular one by the modified
// Gram-Schmidt process, column by column; each iteration factors all of it. Of three kernels for a
// column, one is a single work-group's, and the last leaves fewer work-items with work each time.
#include "kernels/gram_schmidt.h"
#include "benchmarks/apps/dense.h"
#include "tests/samples/sample.h"

namespace {

using apps::Matrix;
using apps::Vector;

constexpr std::size_t groupSize = 64;

void gramSchmidt(sample::Sample& s) {
  const std::size_t n = s.options().size;
  Matrix a(s, n, 1), q(n), r(n);
  for (std::size_t i = 0; i < n; ++i) // away from singular ones
    a.values[i * n + i] += 4;
  const std::size_t bytes = n * n * sizeof(float);

  const auto queue = s.queue();
  const auto program = s.program(sample::gramSchmidtSource);
  const auto norm = sample::kernel(program, "norm");
  const auto normalise = sample::kernel(program, "normalise");
  const auto project = sample::kernel(program, "project");
  const auto given = s.copyOf(a.values, CL_MEM_READ_ONLY);
  const auto aBuffer = s.array<float>(n * n), qBuffer = s.array<float>(n * n);
  const auto rBuffer = s.copyOf(r.values);
  const auto side = static_cast<cl_uint>(n);
  const sample::Sizes global = {sample::roundUp(n, groupSize)}, local = {groupSize};
  for (unsigned i = 0; i < s.options().iterations; ++i)
    s.timed(queue, [&] {
      sample::check(clEnqueueCopyBuffer(queue, given, aBuffer, 0, 0, bytes, 0, nullptr, nullptr),
                    "clEnqueueCopyBuffer");
      for (cl_uint k = 0; k < side; ++k) {
        sample::setArguments(norm, side, k, aBuffer, rBuffer,
                             sample::Local{groupSize * sizeof(float)});
        sample::launch(queue, norm, local, local);
        sample::setArguments(normalise, side, k, aBuffer, rBuffer, qBuffer);
        sample::launch(queue, normalise, global, local);
        sample::setArguments(project, side, k, aBuffer, rBuffer, qBuffer);
        sample::launch(queue, project, global, local);
      }
    });
  sample::read(queue, qBuffer, q.values);
  sample::read(queue, rBuffer, r.values);
  s.verify([&] {
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t column = 0; column < row; ++column)
        sample::require(r(row, column) == 0, "r is not triangular");
    const Vector x = apps::randomVector(n);
    sample::checkAll(q.times(r.times(x)), a.times(x), 1e-3, "(q r x)");
    sample::checkAll(q.transposedTimes(q.times(x)), x, 1e-3, "(q^T q x)");
  });
  s.output(q.values);
  s.output(r.values);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 512, .iterations = 3}, gramSchmidt);
}
