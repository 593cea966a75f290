// c = a * b, row-major, n x n. One work-item per element; dimension 0 is the column.
kernel void matmul_naive(int n, global const float* a, global const float* b, global float* c) {
  const int column = get_global_id(0);
  const int row = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
