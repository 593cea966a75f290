kernel void add(global const int* in, global int* out, int step) {
  const size_t i = get_global_id(0);
  out[i] = in[i] + step;
}

kernel void increase(global int* numbers, int step) {
  numbers[get_global_id(0)] += step;
}
