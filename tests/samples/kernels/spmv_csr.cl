// y = A x, A sparse in CSR form. Which elements of x a row reads stands in memory.
kernel void spmv_csr(int rows, global const int* rowBegin, global const int* column,
                     global const float* value, global const float* x, global float* y) {
  const int row = get_global_id(0);
  if (row >= rows)
    return;
  float sum = 0.0f;
  for (int k = rowBegin[row]; k < rowBegin[row + 1]; ++k)
    sum += value[k] * x[column[k]];
  y[row] = sum;
}
