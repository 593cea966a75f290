// A sparse matrix in compressed sparse row (CSR) form, and its buffers, for kernels/spmv_csr.
#pragma once

#include "tests/samples/sample.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace sample {

/// Row r's elements are [rowBegin[r], rowBegin[r + 1]).
struct CsrMatrix {
  std::vector<cl_int> rowBegin{0};
  std::vector<cl_int> column;
  std::vector<float> value;

  /// Square; row r has length(r) elements in random columns, with values in [-scale(r), scale(r)).
  CsrMatrix(std::size_t rows, const std::function<std::size_t(std::size_t)>& length,
            const std::function<float(std::size_t)>& scale) {
    for (std::size_t row = 0; row < rows; ++row)
      rowBegin.push_back(rowBegin.back() + static_cast<cl_int>(length(row)));
    column.resize(rowBegin.back());
    value.resize(rowBegin.back());
    inParallel(rows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        const float bound = scale(row);
        for (cl_int k = rowBegin[row]; k < rowBegin[row + 1]; ++k) {
          column[k] = static_cast<cl_int>(randomBits(k, 2) % rows);
          value[k] = randomFloat(k, -bound, bound, 3);
        }
      }
    });
  }
};

struct CsrBuffers {
  Memory rowBegin, column, value;

  /// Copies of `matrix`, read-only for kernels.
  CsrBuffers(const Sample& s, CsrMatrix& matrix)
      : rowBegin(upload(s, matrix.rowBegin)), column(upload(s, matrix.column)),
        value(upload(s, matrix.value)) {}

private:
  template <typename T> static Memory upload(const Sample& s, std::vector<T>& values) {
    return s.buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T),
                    values.data());
  }
};

} // namespace sample
