// A macro that puts the parentheses after a work-item function's name hides it from the rewriting.
// RUN: %splitc --emit=accesses %s | %FileCheck %s

#define FIRST (0)

// CHECK-LABEL: kernel hidden(
// CHECK: can't be split: no partition-ready source: `get_group_id` and its parentheses come from different places
kernel void hidden(global int* a) { a[get_global_id(0)] = get_group_id FIRST; }
