#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable

constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

// As filters are written: what lies beyond the edges is left out.
kernel void mix_pixels(read_only image2d_t in, write_only image2d_t out, int shift) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const int2 size = get_image_dim(out);
  if (at.x >= size.x || at.y >= size.y)
    return;
  write_imageui(out, at, read_imageui(in, edge, at) ^ read_imageui(in, edge, at + (int2)(shift, -shift)));
}

// Leaves that to the driver.
kernel void flip(read_only image2d_t in, write_only image2d_t out) {
  const int x = get_global_id(0), y = get_global_id(1);
  write_imageui(out, (int2)(x, get_image_height(out) - 1 - y), read_imageui(in, edge, (int2)(x, y)));
}

kernel void quads(read_only image2d_t in, write_only image2d_t out) {
  const int2 at = (int2)(2 * get_global_id(0), 2 * get_global_id(1));
  const uint4 pixel = read_imageui(in, edge, at);
  write_imageui(out, at, pixel);
  write_imageui(out, at + (int2)(1, 0), pixel.yzwx);
  write_imageui(out, at + (int2)(0, 1), pixel.zwxy);
  write_imageui(out, at + 1, pixel.wxyz);
}

// Can be cut into columns alone.
kernel void columns(read_only image2d_t in, write_only image2d_t out, int from) {
  const int x = get_global_id(0), height = get_image_height(out);
  for (int y = from; y < height; ++y)
    write_imageui(out, (int2)(x, y), read_imageui(in, edge, (int2)(x, y - from)));
}

kernel void where_even(read_only image2d_t in, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const uint4 pixel = read_imageui(in, edge, at);
  if (pixel.x % 2 == 0)
    write_imageui(out, at, pixel / 2);
}

kernel void in_rows(read_only image2d_t in, global const int* row, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(out, (int2)(at.x, row[at.y]), read_imageui(in, edge, at));
}

kernel void corner(write_only image2d_t out, uint value) {
  write_imageui(out, (int2)(0, 0), (uint4)(value));
}

kernel void halve(read_only image2d_t in, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(out, at, read_imageui(in, edge, at) / 2);
}

uint4 drawn(int x, int y, int z, uint seed) {
  return ((uint4)(x, y, z, x ^ y) * 2654435761u + seed) >> 16 & 255u;
}

kernel void volume(write_only image3d_t out, uint seed) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  write_imageui(out, (int4)(x, y, z, 0), drawn(x, y, z, seed));
}

kernel void pictures(write_only image2d_array_t out, uint seed) {
  const int x = get_global_id(0), y = get_global_id(1);
  for (int layer = 0; layer < get_image_array_size(out); ++layer)
    write_imageui(out, (int4)(x, y, layer, 0), drawn(x, y, layer, seed));
}

kernel void lines(write_only image1d_array_t out, write_only image1d_t line, uint seed) {
  const int x = get_global_id(0);
  for (int layer = 0; layer < get_image_array_size(out); ++layer)
    write_imageui(out, (int2)(x, layer), drawn(x, layer, 0, seed));
  write_imageui(line, x, drawn(x, 0, 0, seed));
}
