// Maxwell's equations in two dimensions by finite differences on a staggered grid: electric fields
// `ex` and `ey` and the magnetic field `hz`, all of them `width` x `height`.

kernel void electric_x(uint width, uint height, global const float *hz, global float *ex) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x < width && y > 0 && y < height)
    ex[y * width + x] -= 0.5f * (hz[y * width + x] - hz[(y - 1) * width + x]);
}

// The first row is driven from outside.
kernel void electric_y(uint width, uint height, float source, global const float *hz,
                       global float *ey) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  if (y == 0)
    ey[x] = source;
  else if (x > 0)
    ey[y * width + x] += 0.5f * (hz[y * width + x] - hz[y * width + x - 1]);
}

kernel void magnetic(uint width, uint height, global const float *ex, global const float *ey,
                     global float *hz) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x < width - 1 && y < height - 1) {
    const uint i = y * width + x;
    hz[i] -= 0.7f * (ex[i + width] - ex[i] - ey[i + 1] + ey[i]);
  }
}
