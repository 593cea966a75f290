#define VENDOR __NV_CL_C_VERSION
#if VENDOR >= 120
#define SCALE 2
#else
#define SCALE 1
#endif
kernel void k(global int* a) { a[SCALE * get_global_id(0)] = 0; }
