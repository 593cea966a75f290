// What is added to a program goes by names that its macros seldom have.
// RUN: %splitc %s --emit=source --build-options='-Dp=3 -Dd=4' > %t.cl
// RUN: %splitc --emit=accesses %t.cl --build-options='-Dp=3 -Dd=4' | %FileCheck %s
// CHECK: kernel by_group
// CHECK-NOT: not analysed
kernel void by_group(global int* out) {
  out[get_global_id(0)] = d * (int)get_group_id(0) + p * (int)get_num_groups(1);
}
