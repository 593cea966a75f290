#ifndef SCALE
#define SCALE 3
#endif

kernel void scale(global const int* in, global int* out) {
  size_t i = get_global_id(0);
  out[i] = SCALE * in[i];
}

kernel void scale_and_add_group(global const int* in, global int* out) {
  size_t i = get_global_id(0);
  out[i] = SCALE * in[i] + (int)get_group_id(0);
}
