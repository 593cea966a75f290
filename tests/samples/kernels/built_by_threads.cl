kernel void scaled(global const uint* in, global uint* out) {
  size_t i = get_global_id(0);
  out[i] = in[i] * FACTOR + 1;
}
