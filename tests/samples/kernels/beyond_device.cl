kernel void add(global const float* x, global float* y) {
  const int i = get_global_id(0);
  y[i] += x[i];
}
