kernel void increase(global int *values) {
  values[get_global_id(0)] += 1;
}

kernel void number(global int *values) {
  values[get_global_id(0)] = (int)get_global_id(0);
}

kernel void choose(global const int *wanted, global const int *values, global int *chosen) {
  const size_t i = get_global_id(0);
  chosen[i] = wanted[i] ? values[i] : -1;
}
