#ifndef FACTOR
#define FACTOR 2
#endif

kernel void times(global const int* in, global int* out) {
  const int i = get_global_id(0);
  out[i] = in[i] * FACTOR;
}

kernel void group_sizes(global int* out, local int* scratch) {
  scratch[get_local_id(0)] = get_group_id(0) + get_num_groups(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = scratch[get_local_id(0)] * (int)get_global_size(0);
}
