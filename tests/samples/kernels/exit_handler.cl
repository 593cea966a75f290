kernel void number(global int* out, int first) {
  const size_t i = get_global_id(0);
  out[i] = first + (int)i;
}

kernel void reverse(global const int* in, global int* out) {
  const size_t i = get_global_id(0);
  out[i] = 2 * in[get_global_size(0) - 1 - i];
}
