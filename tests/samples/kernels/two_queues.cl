kernel void scale(int factor, global const int* in, global int* out) {
  const int i = get_global_id(0);
  out[i] = in[i] * factor;
}

kernel void add(global const int* a, global const int* b, global int* sum) {
  const int i = get_global_id(0);
  sum[i] = a[i] + b[i];
}
