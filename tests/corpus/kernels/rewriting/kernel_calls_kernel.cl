// Kernels that call kernels; the called one asks for its group.
//@ buffer a 8192 random 9
//@ buffer b 8192 zero
//@ run outer_kernel g=2048 l=64 : a b int=3
//@ run inner_kernel g=2048 l=64 : b a int=5
kernel void inner_kernel(global const int* a, global int* b, int k) {
  size_t i = get_global_id(0);
  b[i] = a[i] * k + (int)get_group_id(0);
}
kernel void outer_kernel(global const int* a, global int* b, int k) {
  if (get_group_id(0) & 1)
    inner_kernel(a, b, k);
  else
    inner_kernel(a, b, k + 1);
}
