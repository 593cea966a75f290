// Headers of the program's own, twice, with ids inside, and lines that count.
//@ options -I $here/include -DFROM_OPTIONS="ids.h"
//@ splits with_includes
//@ buffer a 4096 random 15
//@ buffer b 4096 zero
//@ run with_includes g=1024 l=16 : a b
#include "ids.h"
#include "ids.h"
kernel void with_includes(global const int* a, global int* b) {
  size_t i = get_global_id(0);
  b[i] = a[i] * HERE + group() + __LINE__;
}
