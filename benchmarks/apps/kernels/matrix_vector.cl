// Products of a square, row-major matrix and a vector: a work-item for each element of the result.

kernel void times(uint n, global const float *a, global const float *x, global float *y) {
  const uint row = get_global_id(0);
  if (row >= n)
    return;
  float sum = 0.0f;
  for (uint k = 0; k < n; ++k)
    sum += a[row * n + k] * x[k];
  y[row] = sum;
}

// Every work-item runs through a column, so all of them read all rows.
kernel void transposed_times(uint n, global const float *a, global const float *x,
                             global float *y) {
  const uint column = get_global_id(0);
  if (column >= n)
    return;
  float sum = 0.0f;
  for (uint k = 0; k < n; ++k)
    sum += a[k * n + column] * x[k];
  y[column] = sum;
}

kernel void add_times(uint n, global const float *a, global const float *x, global float *y) {
  const uint row = get_global_id(0);
  if (row < n)
    for (uint k = 0; k < n; ++k)
      y[row] += a[row * n + k] * x[k];
}

kernel void add_transposed_times(uint n, global const float *a, global const float *x,
                                 global float *y) {
  const uint column = get_global_id(0);
  if (column < n)
    for (uint k = 0; k < n; ++k)
      y[column] += a[k * n + column] * x[k];
}

// y = alpha a x + beta b x
kernel void gesummv(uint n, float alpha, float beta, global const float *a, global const float *b,
                    global const float *x, global float *y) {
  const uint row = get_global_id(0);
  if (row >= n)
    return;
  float aSum = 0.0f, bSum = 0.0f;
  for (uint k = 0; k < n; ++k) {
    aSum += a[row * n + k] * x[k];
    bSum += b[row * n + k] * x[k];
  }
  y[row] = alpha * aSum + beta * bSum;
}
