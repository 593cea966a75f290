kernel void change(global int* numbers) {
  const size_t i = get_global_id(0);
  numbers[i] = numbers[i] * 3 + 1;
}
