kernel void combine(global const int* in, global int* out) {
  const size_t i = get_global_id(0);
  out[i] = out[i] * 3 + in[i];
}

kernel void change(global int* numbers, uint first) {
  const size_t i = get_global_id(0) + first;
  numbers[i] = numbers[i] * 5 + (int)i;
}
