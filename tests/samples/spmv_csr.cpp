// Sparse matrix times vector, repeatedly: y becomes the next x by a device copy.
#include "kernels/spmv_csr.h"
#include "tests/samples/csr.h"

namespace {

sample::CsrMatrix randomMatrix(std::size_t rows) {
  return {rows, [](std::size_t row) { return sample::randomBits(row, 1) % 32; },
          [](std::size_t) { return 0.2F; }};
}

void spmvCsr(sample::Sample& s) {
  const std::size_t rows = s.options().size;
  sample::CsrMatrix matrix = randomMatrix(rows);
  std::vector<float> x = sample::randomFloats(rows, -1, 1, 4);
  const std::size_t bytes = rows * sizeof(float);

  const auto queue = s.queue();
  const auto program = s.program(sample::spmvCsrSource, "-cl-std=CL1.2");
  const auto kernel = sample::kernel(program, "spmv_csr");
  const sample::CsrBuffers csr(s, matrix);
  const auto xBuffer = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, x.data());
  const auto yBuffer = s.buffer(CL_MEM_READ_WRITE, bytes);
  sample::setArguments(kernel, static_cast<cl_int>(rows), csr.rowBegin, csr.column, csr.value,
                       xBuffer, yBuffer);

  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::launch(queue, kernel, {sample::roundUp(rows, 64)}, {64});
    sample::check(clEnqueueCopyBuffer(queue, yBuffer, xBuffer, 0, 0, bytes, 0, nullptr, nullptr),
                  "clEnqueueCopyBuffer");

    std::vector<float> y(rows);
    for (std::size_t row = 0; row < rows; ++row)
      for (cl_int k = matrix.rowBegin[row]; k < matrix.rowBegin[row + 1]; ++k)
        y[row] += matrix.value[k] * x[matrix.column[k]];
    x = y;
  }
  std::vector<float> result(rows);
  sample::read(queue, xBuffer, result);
  for (std::size_t row = 0; row < rows; ++row)
    sample::checkClose(result[row], x[row], 1e-4, "y", row);
  s.output(result);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 20000, .iterations = 3}, spmvCsr);
}
