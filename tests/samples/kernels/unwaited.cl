kernel void add(global int* values, int addend) {
  values[get_global_id(0)] += addend;
}
