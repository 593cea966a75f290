kernel void advance(global uint* numbers, uint step) {
  size_t i = get_global_id(0);
  numbers[i] = 3 * numbers[i] + step + get_group_id(0);
}
kernel void add(global uint* sums, global const uint* numbers) {
  size_t i = get_global_id(0);
  sums[i] += numbers[i];
}
