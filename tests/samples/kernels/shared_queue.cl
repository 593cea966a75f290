kernel void increase(global int *values) {
  values[get_global_id(0)] += 1;
}
