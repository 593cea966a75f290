// c = a * b, row-major, n x n, n a multiple of TILE. A group computes one tile of c and stages
// tiles of a and b in local memory that the host gives.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void matmul_tiled(const uint n, __global const float* a, __global const float* b,
                  __global float* c, __local float* aTile, __local float* bTile) {
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const uint row = get_group_id(1) * TILE + y;
  const uint column = get_group_id(0) * TILE + x;

  float sum = 0.0f;
  for (uint tile = 0; tile < n / TILE; ++tile) {
    aTile[y * TILE + x] = a[row * n + tile * TILE + x];
    bTile[y * TILE + x] = b[(tile * TILE + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < TILE; ++k)
      sum += aTile[y * TILE + k] * bTile[k * TILE + x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
