// A sparse matrix in compressed sparse row (CSR) form, and its buffers, for kernels/spmv_csr.
#pragma once

#include "tests/samples/sample.h"

#include <cstddef>
#include <vector>

namespace sample {

/// Row r's elements are [rowBegin[r], rowBegin[r + 1]).
struct CsrMatrix {
  std::vector<cl_int> rowBegin{0};
  std::vector<cl_int> column;
  std::vector<float> value;

  /// Adds a row of `length` elements in columns below `columns`, values in [-scale, scale).
  void addRow(std::size_t length, std::size_t columns, float scale) {
    for (std::size_t k = 0; k < length; ++k) {
      const std::size_t index = column.size();
      column.push_back(static_cast<cl_int>(randomBits(index, 2) % columns));
      value.push_back(randomFloat(index, -scale, scale, 3));
    }
    rowBegin.push_back(static_cast<cl_int>(column.size()));
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
