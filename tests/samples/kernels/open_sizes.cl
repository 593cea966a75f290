// Work-items meet each element once, whatever the work-groups: who is left out or comes twice is seen.

kernel void columns(global int* out, global const int* in, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  out[x * height + y] += in[x * height + y] ^ (31 * x + y);
}

// It asks for the sizes of the whole.
kernel void sizes(global int* out) {
  const int width = get_global_size(0);
  out[get_global_id(1) * width + get_global_id(0)] += get_global_size(1) + 3 * get_work_dim();
}

kernel void line(global int* out, int step) {
  const int i = get_global_id(0);
  out[i] = 3 * out[i] + i + step + (int)get_global_offset(0);
}

kernel void volume(global int* out, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  out[(z * height + y) * width + x] += x + 7 * y + 49 * z;
}

// Its result depends on the local size, which nobody but the driver may choose.
kernel void groups(global int* out) {
  out[get_global_id(0)] = get_local_size(0);
}
