// One step of a five-point Jacobi iteration on a square of `side` * `side`; the boundary stays.
kernel void jacobi_plane(uint side, global const float *in, global float *out) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && x < side - 1 && y > 0 && y < side - 1) {
    const uint i = y * side + x;
    out[i] = 0.25f * (in[i - side] + in[i + side] + in[i - 1] + in[i + 1]);
  }
}

kernel void copy_back(uint side, global const float *from, global float *to) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && x < side - 1 && y > 0 && y < side - 1)
    to[y * side + x] = from[y * side + x];
}
