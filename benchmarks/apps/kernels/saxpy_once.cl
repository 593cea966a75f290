kernel void add_multiple(uint n, float alpha, global const float *x, global float *y) {
  const uint i = get_global_id(0);
  if (i < n)
    y[i] += alpha * x[i];
}
