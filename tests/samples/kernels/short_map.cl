kernel void short_map(global float* data, float factor) {
  size_t i = get_global_id(0);
  data[i] = data[i] * factor + (float)i;
}
