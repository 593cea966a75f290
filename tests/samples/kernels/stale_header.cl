// Shifted by as much as config.h says when the program is built.
#include "config.h"

__kernel void shift(__global int* out, __global const int* in, int n) {
  int i = get_global_id(0);
  out[i] = in[(i + SHIFT) % n] + SHIFT * (int)get_group_id(0);
}
