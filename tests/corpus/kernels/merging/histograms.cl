// Counting: straight into global memory, by way of local memory, in 64 bits, and with weights.
//@ splits straight
//@ splits by_local
//@ splits wide
//@ splits weighted
//@ buffer data 65536 random 1
//@ buffer bins 1024 random 2
//@ buffer local_bins 1024 zero
//@ buffer wide_bins 2048 random 3
//@ buffer weights 1024 zero
//@ for round 1..3
//@ run straight g=16384 l=64 : data bins
//@ run by_local g=16384 l=64 : data local_bins
//@ run wide g=16384 : data wide_bins
//@ run weighted g=128,128 l=16,4 : data weights
//@ end
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

kernel void straight(global const uint* data, global uint* bins) {
  atomic_inc(&bins[data[get_global_id(0)] & 255]);
}

kernel void by_local(global const uint* data, global uint* bins) {
  local uint mine[256];
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
    mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&mine[data[get_global_id(0)] >> 24]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0))
    if (mine[i])
      atomic_add(&bins[i], mine[i]);
}

kernel void wide(global const uint* data, global ulong* bins) {
  uint value = data[get_global_id(0)];
  atom_add(&bins[value & 255], (ulong)value << 20);
}

kernel void weighted(global const uint* data, global int* bins) {
  uint value = data[get_global_id(1) * get_global_size(0) + get_global_id(0)];
  atomic_sub(&bins[value & 255], (int)value);
}
