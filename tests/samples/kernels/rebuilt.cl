kernel void multiples(global int* out) {
  const int i = get_global_id(0);
  out[i] = i * FACTOR;
}
