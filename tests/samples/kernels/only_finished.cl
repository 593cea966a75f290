kernel void count(global uint* counts, uint step) {
  const size_t i = get_global_id(0);
  counts[i] = counts[i] * 3 + step;
}
