kernel void k(global int* a, global int* b) {
  a[__OPENCL_C_VERSION__] = 0;
  b[__OPENCL_VERSION__] = 0;
}
