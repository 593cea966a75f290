// The address counts from the end in units of the local size, which is smaller in the last group.
//@ options -cl-std=CL2.0
//@ buffer a 4096 random 4
//@ buffer b 8192 zero
//@ run non_uniform_reverse g=1000 l=48 : a b
kernel void non_uniform_reverse(global const int* a, global int* b) {
  size_t base = get_group_id(0) * get_enqueued_local_size(0);
  size_t i = base + (get_local_size(0) - 1 - get_local_id(0));
  b[get_global_size(0) - 1 - i] = a[i] * (int)get_local_size(0);
}
