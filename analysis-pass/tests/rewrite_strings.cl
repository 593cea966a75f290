// A macro that makes a string of its argument would see what the rewriting makes of it.
// RUN: %splitc --emit=accesses %s | %FileCheck %s
// RUN: %splitc --emit=accesses %s -- -DEXPANDED | %FileCheck --check-prefix=EXPANDED %s

#define TELL(x) #x
#ifdef EXPANDED
#define TOLD(x) TELL(x)
#else
#define TOLD(x) #x
#endif

int group_of(int d) { return get_group_id(d); }

// `get_group_id(0)`, whatever becomes of that.
// CHECK-LABEL: kernel told(
// CHECK-NOT: can't be split
// EXPANDED-LABEL: kernel told(
// EXPANDED: can't be split: no partition-ready source: a string is made of what asks for work-groups
kernel void told(global int* a) { a[get_global_id(0)] = group_of(0) + sizeof(TOLD(get_group_id(0))); }
