// One step of a five-point Jacobi iteration on a rectangle; the boundary stays.
kernel void jacobi_plane(uint width, uint height, global const float *in, global float *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    const uint i = y * width + x;
    out[i] = 0.25f * (in[i - width] + in[i + width] + in[i - 1] + in[i + 1]);
  }
}

kernel void copy_back(uint width, uint height, global const float *from, global float *to) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
    to[y * width + x] = from[y * width + x];
}
