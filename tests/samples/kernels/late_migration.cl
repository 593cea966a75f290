kernel void stir(global const uint* seeds, global uint* numbers) {
  size_t i = get_global_id(0);
  uint value = numbers[i];
  for (size_t k = 0; k < 3; ++k)
    value = value * 1664525 + seeds[(i + k) % 8192];
  numbers[i] = value;
}
