// Where each number is, in a table.
kernel void note(global int* numbers, global ulong* places, uint count) {
  const uint i = get_global_id(0);
  places[i] = (ulong)(numbers + (count - 1 - i));
}

kernel void advance(global int* numbers) {
  const uint i = get_global_id(0);
  numbers[i] = numbers[i] * 3 + (int)i;
}

kernel void gather(global const ulong* places, global int* out) {
  const uint i = get_global_id(0);
  out[i] = *(global const int*)places[i];
}

kernel void scatter(global const ulong* places, int value) {
  const uint i = get_global_id(0);
  *(global int*)places[i] += value + (int)i;
}
