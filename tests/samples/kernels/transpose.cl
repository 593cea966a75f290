kernel void transpose_naive(uint width, uint height, global const uint* in, global uint* out) {
  const uint x = get_global_id(0);
  const uint y = get_global_id(1);
  out[x * height + y] = in[y * width + x];
}

#define TILE 16

// Each group turns one tile in local memory, so that reads and writes both run along rows.
kernel void transpose_tiled(uint width, uint height, global const uint* in, global uint* out) {
  local uint tile[TILE][TILE + 1];
  const uint column = get_local_id(0);
  const uint row = get_local_id(1);
  const uint x = get_group_id(0) * TILE;
  const uint y = get_group_id(1) * TILE;

  tile[row][column] = in[(y + row) * width + x + column];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(x + row) * height + y + column] = tile[column][row];
}
