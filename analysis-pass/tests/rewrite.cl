// RUN: grep -v '^//' %s | %splitc - --emit=source | %recompile12
// RUN: grep -v '^//' %s | %splitc - --emit=source | %FileCheck %s
// RUN: %splitc --emit=accesses %s | %FileCheck --check-prefix=REPORT %s
// RUN: %splitc --emit=accesses %s -- -cl-std=CL1.1 | %FileCheck --check-prefix=REPORT %s

// CHECK: #define get_group_id(d) libsplit_get_group_id(libsplit_part, d)
// CHECK-NOT: #define get_local_id

// CHECK: {{^}}int no_parameters(ulong16 libsplit_part) { return get_group_id(0); }
int no_parameters() { return get_group_id(0); }
// CHECK: {{^}}int void_parameters(ulong16 libsplit_part) { return get_num_groups(1); }
int void_parameters(void) { return get_num_groups(1); }

// Declarations ahead and in between.
// CHECK: {{^}}int deep(int x, uint d, ulong16 libsplit_part);
int deep(int x, uint d);
// CHECK: {{^}}int middle(int x, ulong16 libsplit_part) { return deep(x, 2, libsplit_part) + no_parameters(libsplit_part); }
int middle(int x) { return deep(x, 2) + no_parameters(); }
// CHECK: {{^}}int deep(int x, uint d, ulong16 libsplit_part) { return x + get_global_offset(d); }
int deep(int x, uint d) { return x + get_global_offset(d); }

// CHECK: {{^}}int innocent(int x) { return x + get_local_size(0); }
int innocent(int x) { return x + get_local_size(0); }

// CHECK: {{^}}kernel void direct(global int* a, ulong16 libsplit_part) { a[get_global_id(0)] = get_global_size(0); }
// REPORT-LABEL: kernel direct(
// REPORT: needs the partition argument
kernel void direct(global int* a) { a[get_global_id(0)] = get_global_size(0); }

// CHECK: {{^}}kernel void through_helpers(global int* a, ulong16 libsplit_part) {
// CHECK-NEXT: a[get_global_id(0)] = middle(innocent(3), libsplit_part) + void_parameters(libsplit_part);
// REPORT-LABEL: kernel through_helpers(
// REPORT: needs the partition argument
kernel void through_helpers(global int* a) {
  a[get_global_id(0)] = middle(innocent(3)) + void_parameters();
}

// CHECK: {{^}}kernel void untouched(global int* a) { a[get_global_id(0)] = innocent(2); }
// REPORT-LABEL: kernel untouched(
// REPORT-NOT: needs the partition argument
kernel void untouched(global int* a) { a[get_global_id(0)] = innocent(2); }

// A kernel that calls a kernel passes the argument on.
// CHECK: {{^}}kernel void outer(global int* a, ulong16 libsplit_part) { direct(a + 1, libsplit_part); }
// REPORT-LABEL: kernel outer(
// REPORT: needs the partition argument
kernel void outer(global int* a) { direct(a + 1); }
