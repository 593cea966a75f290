// The smallest and the largest number, and which bits occur at all.
kernel void extremes(global const int* numbers, global int* least, global int* most,
                     global uint* bits) {
  const int number = numbers[get_global_id(0)];
  atomic_min(least, number);
  atomic_max(most, number);
  atomic_or(bits, (uint)number);
}
