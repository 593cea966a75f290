// RUN: grep -v '^//' %s | %splitc - --emit=source --device-version=200 -- -cl-std=CL2.0 | %recompile20
// RUN: grep -v '^//' %s | %splitc - --emit=source --device-version=200 -- -cl-std=CL2.0 | %FileCheck %s
// CHECK: #define get_global_linear_id() libsplit_get_global_linear_id(libsplit_part)
// CHECK: kernel void k(global int* a, ulong16 libsplit_part) { a[get_global_linear_id()] = get_local_linear_id(); }
kernel void k(global int* a) { a[get_global_linear_id()] = get_local_linear_id(); }
