// Each group sums its slice in local memory and writes one partial sum.
kernel void reduction(global const int* in, uint n, global int* partial, local int* scratch) {
  const uint local_id = get_local_id(0);
  const uint i = get_global_id(0);
  scratch[local_id] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (local_id < half_size)
      scratch[local_id] += scratch[local_id + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (local_id == 0)
    partial[get_group_id(0)] = scratch[0];
}
