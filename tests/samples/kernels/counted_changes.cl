kernel void count_and_change(global int* numbers, global int* counts) {
  const size_t i = get_global_id(0);
  atomic_add(&counts[numbers[i] & 63], 1);
  numbers[i] = numbers[i] * 3 + 1;
}
