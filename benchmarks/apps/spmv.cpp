// Sparse matrix times vector in CSR form, `size` rows. The rows grow with the cube of their number,
// from 2 elements to 160: half of the work lies in the last sixth of the matrix.
//
// Each launch multiplies what the last one gave. Rows are scaled so that the vectors stay in size.
// The first and the last product are checked on the host.
#include "kernels/spmv_csr.h"
#include "tests/samples/csr.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace {

constexpr std::size_t groupSize = 64;

sample::CsrMatrix unevenMatrix(std::size_t rows) {
  auto length = [rows](std::size_t row) {
    const double at = static_cast<double>(row) / static_cast<double>(rows);
    return 2 + static_cast<std::size_t>(158 * at * at * at);
  };
  auto scale = [&](std::size_t row) { return 1.7F / std::sqrt(static_cast<float>(length(row))); };
  return {rows, length, scale};
}

void checkProduct(const sample::CsrMatrix& matrix, const std::vector<float>& x,
                  const std::vector<float>& y) {
  sample::inParallel(y.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      double sum = 0;
      for (cl_int k = matrix.rowBegin[row]; k < matrix.rowBegin[row + 1]; ++k)
        sum += double{matrix.value[k]} * x[matrix.column[k]];
      sample::checkClose(y[row], sum, 1e-4, "y", row);
    }
  });
}

void spmv(sample::Sample& s) {
  const std::size_t rows = std::max<std::size_t>(s.options().size, 2 * groupSize);
  sample::CsrMatrix matrix = unevenMatrix(rows);
  std::vector<float> before = sample::randomFloats(rows, -1, 1, 4), after(rows);
  const std::size_t bytes = rows * sizeof(float);

  const auto queue = s.queue();
  const auto program = s.program(sample::spmvCsrSource, "-cl-std=CL1.2");
  const auto kernel = sample::kernel(program, "spmv_csr");
  const sample::CsrBuffers csr(s, matrix);
  auto x = s.buffer(CL_MEM_COPY_HOST_PTR, bytes, before.data());
  auto y = s.buffer(CL_MEM_READ_WRITE, bytes);

  for (unsigned i = 0; i < s.options().iterations; ++i) {
    sample::setArguments(kernel, static_cast<cl_int>(rows), csr.rowBegin, csr.column, csr.value, x,
                         y);
    s.timed(queue, [&] {
      sample::launch(queue, kernel, {sample::roundUp(rows, groupSize)}, {groupSize});
    });
    const bool last = i + 1 == s.options().iterations;
    if (i == 0 || last) {
      sample::read(queue, x, before);
      sample::read(queue, y, after);
      checkProduct(matrix, before, after);
    }
    std::swap(x, y);
  }
  s.output(after);
}

} // namespace

int main(int argc, char** argv) {
  return sample::run(argc, argv, {.size = 200000, .iterations = 5}, spmv);
}
