// A level of a sparse, lower triangular system with ones on its diagonal, in CSR form: rows
// order[first], order[first + 1] and so on depend on rows of earlier levels alone.
kernel void solve_level(uint first, uint count, global const uint *order,
                        global const uint *rowBegin, global const uint *column,
                        global const float *value, global const float *right, global float *x) {
  const uint i = get_global_id(0);
  if (i >= count)
    return;
  const uint row = order[first + i];
  float sum = right[row];
  for (uint k = rowBegin[row]; k < rowBegin[row + 1]; ++k)
    sum -= value[k] * x[column[k]];
  x[row] = sum;
}
