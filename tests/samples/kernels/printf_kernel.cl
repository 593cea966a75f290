kernel void printf_kernel(global const int* in, global int* out) {
  const int i = get_global_id(0);
  out[i] = in[i] * 3 + 1;
  if (i % 1000 == 0)
    printf("item %d: %d\n", i, out[i]);
}
