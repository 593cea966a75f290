#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif
#ifdef cl_vendor_thing
#define PLACE 1
#else
#define PLACE 0
#endif
kernel void k(global real* a, global int* b) {
  a[get_global_id(0)] = 0;
  b[PLACE] = 0;
}
