kernel void plus(global int* data, int value) {
  const int i = get_global_id(0);
  data[i] += value;
}
