// One step of a three-point Jacobi iteration; the two boundary values stay.
kernel void jacobi1d(uint n, global const float *in, global float *out) {
  const uint i = get_global_id(0);
  if (i > 0 && i < n - 1)
    out[i] = (in[i - 1] + in[i] + in[i + 1]) * (1.0f / 3.0f);
}

kernel void copy_back(uint n, global const float *from, global float *to) {
  const uint i = get_global_id(0);
  if (i > 0 && i < n - 1)
    to[i] = from[i];
}
