#ifdef __opencl_c_fp64
#define STEP 2
#else
#define STEP 1
#endif
#ifdef GROUPS
#ifdef __opencl_c_work_group_collective_functions
#undef STEP
#define STEP 3
#endif
#endif
kernel void k(global int* a) { a[STEP * get_global_id(0)] = 1; }
