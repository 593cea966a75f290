// Products of square, row-major matrices: a work-item for each element of the result.

kernel void product(uint n, float alpha, global const float *a, global const float *b,
                    global float *c) {
  const uint column = get_global_id(0), row = get_global_id(1);
  if (row >= n || column >= n)
    return;
  float sum = 0.0f;
  for (uint k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = alpha * sum;
}

kernel void gemm(uint n, float alpha, float beta, global const float *a, global const float *b,
                 global float *c) {
  const uint column = get_global_id(0), row = get_global_id(1);
  if (row >= n || column >= n)
    return;
  float sum = 0.0f;
  for (uint k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = beta * c[row * n + column] + alpha * sum;
}

// c = beta c + alpha a a^T
kernel void syrk(uint n, float alpha, float beta, global const float *a, global float *c) {
  const uint column = get_global_id(0), row = get_global_id(1);
  if (row >= n || column >= n)
    return;
  float sum = 0.0f;
  for (uint k = 0; k < n; ++k)
    sum += a[row * n + k] * a[column * n + k];
  c[row * n + column] = beta * c[row * n + column] + alpha * sum;
}

// c = beta c + alpha (a b^T + b a^T)
kernel void syr2k(uint n, float alpha, float beta, global const float *a, global const float *b,
                  global float *c) {
  const uint column = get_global_id(0), row = get_global_id(1);
  if (row >= n || column >= n)
    return;
  float sum = 0.0f;
  for (uint k = 0; k < n; ++k)
    sum += a[row * n + k] * b[column * n + k] + b[row * n + k] * a[column * n + k];
  c[row * n + column] = beta * c[row * n + column] + alpha * sum;
}

// As gemm, for sides that are multiples of TILE: a group computes a tile of c, and has a tile of a
// and one of b at a time in local memory.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void blocked(uint n, float alpha, float beta, global const float *a, global const float *b,
             global float *c) {
  local float aTile[TILE][TILE], bTile[TILE][TILE];
  const uint x = get_local_id(0), y = get_local_id(1);
  const uint column = get_global_id(0), row = get_global_id(1);
  float sum = 0.0f;
  for (uint first = 0; first < n; first += TILE) {
    aTile[y][x] = a[row * n + first + x];
    bTile[y][x] = b[(first + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < TILE; ++k)
      sum += aTile[y][k] * bTile[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = beta * c[row * n + column] + alpha * sum;
}
