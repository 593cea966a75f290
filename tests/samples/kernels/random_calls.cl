// One kernel per way in which work-groups share a buffer. Every result is the same in any order.

kernel void plus(global const uint* in, global uint* out, uint value) {
  const uint i = get_global_id(0);
  out[i] = in[i] + value;
}

kernel void add_to(global const uint* in, global uint* out, uint value) {
  const uint i = get_global_id(0);
  if (i % 3 != value % 3)
    out[i] += in[i] + value;
}

kernel void neighbours(global const uint* in, global uint* out, uint n) {
  const uint i = get_global_id(0);
  const uint left = i > 0 ? in[i - 1] : 0, right = i + 1 < n ? in[i + 1] : 0;
  out[i] = left + 3 * in[i] + right;
}

kernel void reverse(global const uint* in, global uint* out, uint n) {
  const uint i = get_global_id(0);
  out[n - 1 - i] = in[i] ^ i;
}

// A permutation that no analysis sees through, since n is a power of two.
kernel void permute(global const uint* in, global uint* out, uint n) {
  const uint i = get_global_id(0);
  out[(i * 5 + (in[0] & 1) * 4) & (n - 1)] = in[i] + 1;
}

kernel void count(global const uint* in, global uint* out, uint mask) {
  const uint i = get_global_id(0);
  atomic_add(&out[in[i] & mask & 63], in[i] % 5);
}

kernel void largest(global const uint* in, global uint* out, uint mask) {
  const uint i = get_global_id(0);
  atomic_max(&out[64 + (in[i] & mask & 31)], in[i]);
}

kernel void odd_ones(global const uint* in, global uint* out, uint value) {
  const uint i = get_global_id(0);
  if (in[i] & 1)
    out[i] = value;
}

kernel void tiles(global const uint* in, global uint* out, uint value) {
  local uint tile[64];
  const uint i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  tile[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[size - 1 - l] + value * (uint)get_group_id(0);
}
