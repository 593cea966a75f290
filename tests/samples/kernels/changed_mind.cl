// Steps of an iteration that exchange a halo, change a buffer in place, or read their own output.
// Every result is the same in any order of work-groups.

kernel void stencil(global const uint* in, global uint* out, uint width, uint n) {
  const uint i = get_global_id(0);
  const uint above = i >= width ? in[i - width] : 7, below = i + width < n ? in[i + width] : 9;
  out[i] = above + 3 * in[i] + below;
}

kernel void shift(global const uint* in, global uint* out, uint by, uint n) {
  const uint i = get_global_id(0);
  out[i] = (i + by < n ? in[i + by] : by) ^ i;
}

// In place.
kernel void advance(global const uint* in, global uint* out, uint value, uint n) {
  const uint i = get_global_id(0);
  if (i < n)
    out[i] = out[i] * 5 + value;
}

// Writes, and reads what it has written, more often the larger that is.
kernel void collatz(global const uint* in, global uint* out, uint most, uint n) {
  const uint i = get_global_id(0);
  out[i] = in[i] & 1023;
  for (uint k = 0; k < most % 16 && out[i] > 1; ++k)
    out[i] = out[i] & 1 ? 3 * out[i] + 1 : out[i] / 2;
}

kernel void tiles(global const uint* in, global uint* out, uint value, uint n) {
  local uint tile[64];
  const uint i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
  tile[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[size - 1 - l] + value * (uint)get_group_id(0);
}

kernel void count(global const uint* in, global uint* out, uint mask, uint n) {
  const uint i = get_global_id(0);
  atomic_add(&out[in[i] & mask & 63], in[i] % 5);
}
