#include "put.h"
#define QUOTE(x) #x
constant char text[] = TEXT;
constant char name[] = QUOTE(NAME);
kernel void k(global int* a) {
  a[get_global_id(0) + N] = text[0] + name[0];
  put(a);
}
