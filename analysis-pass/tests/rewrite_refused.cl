// What can't be rewritten is an obstacle, with its reason.
// RUN: %splitc --emit=accesses %s -- '-DCALL_HELPER=helper(1)' | %FileCheck %s

int helper(int x) { return x + get_group_id(0); }

// CHECK-LABEL: kernel uses(
// CHECK: needs the partition argument
// CHECK: can't be split: no partition-ready source: text that comes from pasted tokens or from a macro on the command line
kernel void uses(global int* a) { a[0] = CALL_HELPER; }

// CHECK-LABEL: kernel innocent(
// CHECK-NOT: can't be split
kernel void innocent(global int* a) { a[0] = 1; }

// Words of the partition argument would become others.
// RUN: echo 'kernel void k(global int* a) { a[get_global_id(0)] = get_num_groups(0); }' | %splitc - --emit=accesses -- -Ds3=s2 | %FileCheck --check-prefix=COMPONENT %s
// RUN: echo 'kernel void k(global int* a) { a[get_global_id(0)] = get_num_groups(0); }' | %splitc - --emit=accesses -- '-Ds3(x)=x' | %FileCheck --check-prefix=FUNCTION %s
// FUNCTION-NOT: can't be split
// COMPONENT: can't be split: no partition-ready source: the program has a macro of its own named `s3`
