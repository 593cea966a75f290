#include "group.h"
#if SEVEN == 7
kernel void k(global int* a) { a[group(1)] = SEVEN; }
#endif
