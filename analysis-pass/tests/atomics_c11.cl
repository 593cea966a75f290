// RUN: %splitc --emit=accesses %s -- -cl-std=CL2.0 | %FileCheck %s

// CHECK-LABEL: kernel fetches(
// CHECK-NOT: can't be split
// CHECK-DAG: updates a by add at 0, 4 bytes
// CHECK-DAG: updates b by max at 0, 4 bytes
// CHECK-DAG: updates c by min at 0, 8 bytes
kernel void fetches(global atomic_int* a, global atomic_uint* b, global atomic_ulong* c) {
  atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_device);
  atomic_fetch_sub(a, 2);
  atomic_fetch_max(b, 3u);
  atomic_fetch_min_explicit(c, 3ul, memory_order_seq_cst);
}

// CHECK-LABEL: kernel used(
// CHECK: can't be split: atomic operation on `a` whose result is used
kernel void used(global atomic_int* a, global int* out) {
  out[get_global_id(0)] = atomic_fetch_or(a, 1);
}

// CHECK-LABEL: kernel loads(
// CHECK: can't be split: atomic operation on `a`
kernel void loads(global atomic_int* a, global int* out) {
  out[get_global_id(0)] = atomic_load(a);
}

// CHECK-LABEL: kernel stores(
// CHECK: can't be split: atomic operation on `a`
kernel void stores(global atomic_int* a) { atomic_store(a, 1); }
