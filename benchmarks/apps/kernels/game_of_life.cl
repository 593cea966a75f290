// A generation of Conway's Game of Life: 1 is alive, 0 is dead.

uchar next(uchar self, uint neighbours) {
  return neighbours == 3 || (neighbours == 2 && self);
}

// What lies outside is dead.
kernel void life_bounded(uint width, uint height, global const uchar *in, global uchar *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  uint neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const int u = (int)x + dx, v = (int)y + dy;
      if ((dx != 0 || dy != 0) && u >= 0 && u < (int)width && v >= 0 && v < (int)height)
        neighbours += in[v * width + u];
    }
  out[y * width + x] = next(in[y * width + x], neighbours);
}

// The edges meet: the board is a torus.
kernel void life_periodic(uint width, uint height, global const uchar *in, global uchar *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  const uint left = (x + width - 1) % width, right = (x + 1) % width;
  const uint above = (y + height - 1) % height * width, row = y * width;
  const uint below = (y + 1) % height * width;
  const uint neighbours = in[above + left] + in[above + x] + in[above + right] + in[row + left] +
                          in[row + right] + in[below + left] + in[below + x] + in[below + right];
  out[row + x] = next(in[row + x], neighbours);
}
