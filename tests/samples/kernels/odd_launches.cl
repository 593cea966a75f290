kernel void plus(global const int* in, global int* out, int value) {
  const int i = get_global_id(0);
  out[i] = in[i] + value;
}

kernel void plus_shifted(global int* out, global const int* in, int shift) {
  const int i = get_global_id(0);
  out[i + shift] += in[i];
}

kernel void ids(global int* out, int width, int height) {
  const int x = get_global_id(0) - get_global_offset(0);
  const int y = get_global_id(1) - get_global_offset(1);
  const int z = get_global_id(2) - get_global_offset(2);
  out[(z * height + y) * width + x] = get_global_id(0) + 100 * get_global_id(1) +
                                      10000 * get_global_id(2) + 1000000 * get_work_dim();
}

// What the groups look like from inside. Only for NDRanges with a local size.
kernel void groups(global int* out) {
  const int i = get_global_id(0) - get_global_offset(0);
  out[i] = get_group_id(0) + 1000 * get_num_groups(0) + 100000 * get_local_id(0) +
           10000000 * get_local_size(0);
}

kernel void optional_input(global const int* maybe, global int* out) {
  const int i = get_global_id(0);
  out[i] = maybe ? maybe[i] : -i;
}

kernel void quotient(global const int* a, global const int* b, global int* out) {
  const int i = get_global_id(0);
  out[i] = a[i] / b[i];
}

// Each work-item has a part of the group's memory.
kernel void through(global int* numbers, local int* part) {
  const int i = get_global_id(0), l = get_local_id(0);
  part[l] = numbers[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  numbers[i] = part[get_local_size(0) - 1 - l] * 3 + 1;
}

kernel void nothing() {}
