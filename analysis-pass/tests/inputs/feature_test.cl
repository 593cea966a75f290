#if __has_builtin(__builtin_expect)
#define LIKELY(x) __builtin_expect(x, 1)
#else
#define LIKELY(x) x
#endif
kernel void k(global int* a) { if (LIKELY(a[0])) a[1] = 0; }
