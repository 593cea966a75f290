// Programs that define what their compiler lacks, where compilers have functions as macros, or old names of systems: each
// place depends on who is asked.
//@ splits larger
//@ splits apart
//@ splits by_system
//@ splits by_version
//@ buffer a 1024*4 random 1
//@ buffer b 2048*4 random 2
//@ for r 1..3
//@ write a 0 4096 $r
//@ run larger g=512 l=32 : a b
//@ run apart g=512 l=32 : a b
//@ run by_system g=512 l=32 : a b
//@ run by_version g=512 l=32 : a b
//@ end

#ifndef max
#define LARGER_AT(i) (i)
#else
#define LARGER_AT(i) (1023 - (i))
#endif
kernel void larger(global const int* a, global int* b) {
  int i = get_global_id(0);
  b[LARGER_AT(i)] = a[i];
}

// With the compiler's own it is never negative.
#ifndef abs
#define abs(x) ((x) < 0 ? -(x) : (x))
#endif
kernel void apart(global const int* a, global int* b) {
  int i = get_global_id(0);
  if (abs(i - 256) - 300 < 0)
    b[511 - i] = a[i] + 1;
  else
    b[1023 - i] = a[i] + 1;
}

#ifndef __x86_64__
#define __x86_64__
#define SYSTEM_AT(i) (i)
#elif defined(linux) || defined(i386)
#define SYSTEM_AT(i) (767 - (i))
#else
#define SYSTEM_AT(i) (1023 - (i))
#endif
kernel void by_system(global const int* a, global int* b) {
  int i = get_global_id(0);
  b[SYSTEM_AT(i)] = a[i] + 2;
}

// Of the device, whatever version its compiler says to be of.
#if __OPENCL_VERSION__ >= 200
#define VERSION_AT(i) (2047 - (i))
#else
#define VERSION_AT(i) (1024 + (i))
#endif
kernel void by_version(global const int* a, global int* b) {
  int i = get_global_id(0);
  b[VERSION_AT(i)] = a[i] + 2;
}
