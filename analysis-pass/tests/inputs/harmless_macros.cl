#ifndef _HARMLESS_MACROS_H_
#define _HARMLESS_MACROS_H_
#ifdef __cplusplus
extern "C" {
#endif
#if __OPENCL_C_VERSION__ >= 120 && defined(CL_VERSION_1_2)
#define PLACE get_global_id(0)
#endif
#ifndef LOCAL_SIZE
#define LOCAL_SIZE 64
#endif
#define __MINE 3
#if __MINE == 3
kernel void k(global int* a) { a[PLACE] = __LINE__; }
#endif
#endif

#undef cl_khr_fp64
#ifdef cl_khr_fp64
#error it was undefined
#endif

#if defined(_SOME_EMULATOR_H) || defined(__powerpc__)
#error emulated
#endif
