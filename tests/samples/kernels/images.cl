constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |
                             CLK_FILTER_NEAREST;

// A buffer becomes an image, ...
kernel void to_image(global const uint* in, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const uint pixel = in[at.y * get_image_width(out) + at.x];
  write_imageui(out, at, (uint4)(pixel & 255u, pixel >> 8 & 255u, pixel >> 16 & 255u, pixel >> 24));
}

// ... is blurred as an image, with a sampler of the kernel's own and one of the host's, ...
kernel void blur(read_only image2d_t in, sampler_t sampler, write_only image2d_t out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  uint4 sum = read_imageui(in, nearest, at);
  sum += read_imageui(in, sampler, at + (int2)(1, 0));
  sum += read_imageui(in, sampler, at + (int2)(0, 1));
  sum += read_imageui(in, nearest, at + (int2)(1, 1));
  write_imageui(out, at, sum / 4u);
}

// ... and becomes a buffer again.
kernel void from_image(read_only image2d_t in, global uint* out) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const uint4 pixel = read_imageui(in, nearest, at);
  out[at.y * get_image_width(in) + at.x] =
      pixel.x | pixel.y << 8 | pixel.z << 16 | pixel.w << 24;
}
