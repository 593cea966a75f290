// Works on a part of the array.
kernel void window(global uint* numbers, uint first) {
  size_t i = first + get_global_id(0);
  numbers[i] = 3 * numbers[i] + 1;
}
