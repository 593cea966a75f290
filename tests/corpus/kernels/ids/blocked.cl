// Each item a block of its own, each group a tile, and each group one result, through casts.
//@ splits blocked
//@ buffer a 65536 random 5
//@ buffer b 65536 zero
//@ buffer sums 256 zero
//@ run blocked g=1024 l=16 : a b sums int=16
kernel void blocked(global const uint* a, global uint* b, global uint* sums, int per) {
  const uint first = (uint)get_global_id(0) * per;
  for (int k = 0; k < per; k++)
    b[first + k] = a[first + (k ^ 5)] >> 3;
  local uint partial[16];
  partial[get_local_id(0)] = a[first];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (get_local_id(0) < s)
      partial[get_local_id(0)] += partial[get_local_id(0) + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (get_local_id(0) == 0)
    sums[get_group_id(0)] = partial[0];
}
