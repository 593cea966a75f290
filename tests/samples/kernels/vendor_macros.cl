// What vendors' and other worlds' compilers define decides here.

#ifdef __DEVICE_EMULATION__
#define STEP 2
#elif defined(__CLOVER__) || __POCL_NEVER_SAID__ > 3
#define STEP 3
#else
#define STEP 1
#endif

#if defined(__x86_64__) && __SIZEOF_POINTER__ == 8 && !defined(__GPU__)
#define BASE 100
#elif defined(__NV_CL_C_VERSION)
#define BASE 200
#else
#define BASE 300
#endif

__kernel void place_by_macros(__global int* out, int n) {
  int i = get_global_id(0);
  if (i < n / STEP)
    out[STEP * i] = BASE + i * (int)get_num_groups(0);
}
