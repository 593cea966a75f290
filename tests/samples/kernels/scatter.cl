// out[to[i]] = in[i], where only the data say that no two write the same element.
kernel void scatter(global const uint* to, global const uint* in, global uint* out, uint n) {
  const uint i = get_global_id(0);
  if (i < n)
    out[to[i]] = in[i];
}

// The same onto what is there.
kernel void scatter_onto(global const uint* to, global const uint* in, global uint* out, uint n) {
  const uint i = get_global_id(0);
  if (i < n)
    out[to[i]] = 3 * out[to[i]] + in[i];
}
