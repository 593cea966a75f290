kernel void advance(global uint* values, uint factor) {
  size_t i = get_global_id(0);
  values[i] = values[i] * factor + (uint)i;
}
