kernel void add(global int* values, int c) {
  const int i = get_global_id(0);
  values[i] += c;
}
