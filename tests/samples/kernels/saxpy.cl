kernel void saxpy(float alpha, global const float* restrict x, global float* restrict y) {
  const int i = get_global_id(0);
  y[i] = alpha * x[i] + y[i];
}
