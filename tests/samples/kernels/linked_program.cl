// Two units of one program: the functions, and the kernels that call them.
#ifdef FUNCTIONS

int scaled(int x) {
  return SCALE * x;
}

// The answer is another one in each work-group.
int group_number(void) {
  return (int)(get_group_id(0) + get_num_groups(0));
}

kernel void scale_here(global const int* in, global int* out) {
  int i = get_global_id(0);
  out[i] = scaled(in[i]);
}

#else

#include <functions.h>

// Where depends on the options that the unit was compiled with.
kernel void place_finite(global int* out, int n) {
  int i = get_global_id(0);
#if __FINITE_MATH_ONLY__
  out[n - 1 - i] = i;
#else
  out[i] = i;
#endif
}

kernel void scale(global const int* in, global int* out) {
  int i = get_global_id(0);
  out[i] = scaled(in[i]);
}

kernel void scale_and_add_group(global const int* in, global int* out) {
  int i = get_global_id(0);
  out[i] = scaled(in[i]) + group_number();
}

kernel void scale_here(global const int* in, global int* out);

kernel void scale_there(global const int* in, global int* out) {
  scale_here(in, out);
}

#endif
