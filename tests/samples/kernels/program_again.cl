kernel void change(global int* numbers, int by) {
  const size_t i = get_global_id(0);
  numbers[i] = numbers[i] * 3 + by;
}

kernel void copy(global const int* from, global int* to) {
  const size_t i = get_global_id(0);
  to[i] = from[i] + 1;
}
