constant sampler_t inside = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

uint packed(uint4 pixel) {
  return pixel.x | pixel.y << 8 | pixel.z << 16 | pixel.w << 24;
}

// Reads only: each work-group anywhere.
kernel void look(read_only image2d_t in, sampler_t sampler, global uint* out, int width, int shift) {
  const int x = get_global_id(0), y = get_global_id(1);
  const int2 away = (int2)(x + shift, y - shift);
  out[y * width + x] = out[y * width + x] * 5u + packed(read_imageui(in, sampler, away)) +
                       packed(read_imageui(in, inside, (int2)(x, y)));
}

kernel void look_through(read_only image3d_t in, sampler_t sampler, global uint* out, int width) {
  const int x = get_global_id(0), y = get_global_id(1);
  uint sum = 0;
  for (int z = 0; z < 4; ++z)
    sum = sum * 3u + packed(read_imageui(in, sampler, (int4)(x, y, z, 0)));
  out[y * width + x] += sum;
}

// Writes, and so stays on one device; others must see what it wrote.
kernel void invert(write_only image2d_t out, global const uint* in, int width) {
  const int x = get_global_id(0), y = get_global_id(1);
  const uint pixel = ~in[y * width + x];
  write_imageui(out, (int2)(x, y),
                (uint4)(pixel & 255u, pixel >> 8 & 255u, pixel >> 16 & 255u, pixel >> 24));
}
