// Gaussian elimination in place on a row-major, n x n matrix, without pivoting. Both are launched
// over what lies behind row and column k, by a global offset of k + 1.

// The column of factors.
kernel void divide(uint n, uint k, global float *a) {
  const uint row = get_global_id(0);
  if (row < n)
    a[row * n + k] /= a[k * n + k];
}

// What is left takes off its factor times row k.
kernel void subtract(uint n, uint k, global float *a) {
  const uint column = get_global_id(0), row = get_global_id(1);
  if (row < n && column < n)
    a[row * n + column] -= a[row * n + k] * a[k * n + column];
}
