// How a kernel will be split, on a typical launch or on a given one.
// RUN: %splitc %s | %FileCheck %s
// RUN: %splitc %s --range=64x32/8x8 --argument=w=64 | %FileCheck --check-prefix=GIVEN %s
// RUN: not %splitc %s --range=64/8x8 2>&1 | %FileCheck --check-prefix=RANGE %s
// RUN: not %splitc %s --range=4096 2>&1 | %FileCheck --check-prefix=RANGE %s
// RUN: not %splitc %s --range=-64/64 2>&1 | %FileCheck --check-prefix=RANGE %s
// RUN: not %splitc %s --range=64/0 2>&1 | %FileCheck --check-prefix=RANGE %s
// RUN: not %splitc %s --range=64/8/8 2>&1 | %FileCheck --check-prefix=RANGE %s
// RUN: not %splitc %s --range=8x8x8x8/1x1x1x1 2>&1 | %FileCheck --check-prefix=RANGE %s
// RANGE: splitc: bad --range {{.*}}, expected GLOBAL/LOCAL, such as 4096/64

// CHECK-LABEL: kernel rows(
// CHECK: split at 256x256/16x16, w = 256: dimension 1, rung 1 (disjoint writes, all certain)
// GIVEN: split at 64x32/8x8, w = 64: dimension 1, rung 1
kernel void rows(global float* a, int w) { a[get_global_id(1) * w + get_global_id(0)] = 1; }

// Only dimension 0 keeps the writes apart.
// CHECK-LABEL: kernel overlapping_rows(
// CHECK: split at 256x256/16x16: dimension 0, rung 1
kernel void overlapping_rows(global float* a) {
  if (get_global_id(1) < 200) a[get_global_id(0)] = 0;
}

// CHECK-LABEL: kernel masked(
// CHECK: split at 4096/64: dimension 0, rung 2 (disjoint writes, some of them only possible
kernel void masked(global float* a, global const int* mask) {
  int i = get_global_id(0);
  if (mask[i]) a[i] = 1;
}

// CHECK-LABEL: kernel scattered(
// CHECK: split at 4096/64: dimension 0, rung 3 (overlapping or unknown writes, merged by difference)
kernel void scattered(global int* a, global const int* at) {
  a[at[get_global_id(0)]] = 1;
}

// CHECK-LABEL: kernel histogram(
// CHECK: split at 4096/64: dimension 0, rung 4 (atomic updates, merged by their operation)
kernel void histogram(global uint* bins, global const uint* data) {
  atomic_inc(&bins[data[get_global_id(0)] & 255]);
}

// CHECK-LABEL: kernel counter(
// CHECK: not split: atomic operation on `n` whose result is used (line [[#@LINE+2]])
kernel void counter(global int* n, global int* a) {
  a[atomic_inc(n)] = 1;
}

// Floating-point arguments are no part of what is assumed.
// CHECK-LABEL: kernel scaled(
// CHECK: split at 4096/64, n = 4096: dimension 0, rung 1
kernel void scaled(global float* a, float s, int n, double2 v) {
  if (get_global_id(0) < n) a[get_global_id(0)] *= s + (float)v.x;
}
