// out = filter * in over a width x height image, (2 radius + 1)^2 taps, zero outside of the image.
// The NDRange is rounded up to whole groups: work-items outside of the image do nothing.
kernel void convolution2d(int width, int height, int radius, global const float* in,
                          constant float* filter, global float* out) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height)
    return;

  float sum = 0.0f;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const int u = x + dx;
      const int v = y + dy;
      if (u >= 0 && u < width && v >= 0 && v < height)
        sum += in[v * width + u] * filter[(dy + radius) * (2 * radius + 1) + dx + radius];
    }
  out[y * width + x] = sum;
}
