kernel void add_multiple(uint n, float alpha, global const float *x, global float *y) {
  const uint i = get_global_id(0);
  if (i < n)
    y[i] += alpha * x[i];
}

// The other way round, `times` times over, which comes to x / (1 - alpha) at last. Rounded once a
// step, on any device.
kernel void relax(uint n, float alpha, uint times, global const float *x, global float *y) {
  const uint i = get_global_id(0);
  if (i >= n)
    return;
  const float to = x[i];
  float at = y[i];
  for (uint k = 0; k < times; ++k)
    at = fma(alpha, at, to);
  y[i] = at;
}
