// A program that uses our prefix makes it give way.
// RUN: grep -v '^//' %s | %splitc - --emit=source | %recompile12
// RUN: grep -v '^//' %s | %splitc - --emit=source | %FileCheck %s
// CHECK: #define get_group_id(d) libsplit1_get_group_id(libsplit1_part, d)
// CHECK: kernel void k(global int* libsplit_part, ulong16 libsplit1_part)
kernel void k(global int* libsplit_part) { libsplit_part[0] = get_group_id(0); }
