kernel void slow(global uint* sums, uint rounds) {
  size_t i = get_global_id(0);
  uint value = sums[i];
  for (uint k = 0; k < rounds; ++k)
    value = value * 1664525 + k;
  sums[i] = value;
}
kernel void look(read_only image2d_t picture, sampler_t sampler, global uint* sums) {
  size_t i = get_global_id(0);
  uint4 pixel = read_imageui(picture, sampler, (int2)((int)(i % 64) - 2, (int)(i / 64)));
  sums[i] = sums[i] * 3 + pixel.x;
}
