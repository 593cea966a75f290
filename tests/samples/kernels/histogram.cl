// Counts bytes, directly and by way of local memory.
kernel void histogram_direct(global const uchar* data, uint n, global uint* bins) {
  const uint i = get_global_id(0);
  if (i < n)
    atomic_inc(&bins[data[i]]);
}

kernel void histogram_local(global const uchar* data, uint n, global uint* bins,
                            local uint* mine) {
  for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0))
    mine[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_inc(&mine[data[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0))
    atomic_add(&bins[bin], mine[bin]);
}
