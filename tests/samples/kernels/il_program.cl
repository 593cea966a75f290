kernel void scale(global const int* in, global int* out) {
  size_t i = get_global_id(0);
  out[i] = 3 * in[i];
}

size_t groupsBefore(uint dimension) { return get_group_id(dimension) * 1000 + get_num_groups(dimension); }

kernel void ask_groups(global const int* in, global int* out) {
  size_t i = get_global_id(0);
  out[i] = in[i] + (int)(groupsBefore(0) + 7 * get_global_size(0) + get_global_offset(0));
}

kernel void ask_linear(global const int* in, global int* out) {
  size_t linear = get_global_linear_id();
  size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
  out[i] = in[i] + (int)linear;
}
