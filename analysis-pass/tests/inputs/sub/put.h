void put(global int* a) { a[7] = 1; }
#include "deep.h"
