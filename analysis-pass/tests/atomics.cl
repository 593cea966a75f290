// RUN: %splitc --emit=accesses %s | %FileCheck %s
// RUN: %splitc %s | %FileCheck --check-prefix=PLAN %s
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

// A result that nobody uses is no result.
// CHECK-LABEL: kernel counts(
// CHECK-NOT: can't be split
// CHECK: line [[#@LINE+1]]: updates n by add at 0, 4 bytes
kernel void counts(global int* n) { atomic_inc(n); }

// CHECK-LABEL: kernel histogram(
// CHECK-NOT: can't be split
// CHECK: reads data at 4*G0, 4 bytes
// CHECK: updates bins by add at 4*(data[G0] & 255), 4 bytes, by `data` at launch
kernel void histogram(global const uint* data, global uint* bins) {
  atomic_add(&bins[data[get_global_id(0)] & 255], 1u);
}

// CHECK-LABEL: kernel local_then_global(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: depends on the order of work-items
// CHECK-NOT: can't be split
// CHECK: updates bins by add at 4*L0, 4 bytes
kernel void local_then_global(global const uint* data, global uint* bins, local uint* mine) {
  mine[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&mine[data[get_global_id(0)] % get_local_size(0)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[get_local_id(0)], mine[get_local_id(0)]);
}

// CHECK-LABEL: kernel every_operation(
// CHECK-NOT: can't be split
// CHECK-DAG: updates a by add at 0, 4 bytes
// CHECK-DAG: updates a by and at 4, 4 bytes
// CHECK-DAG: updates a by or at 8, 4 bytes
// CHECK-DAG: updates a by xor at 12, 4 bytes
// CHECK-DAG: updates a by min at 16, 4 bytes
// CHECK-DAG: updates a by max at 20, 4 bytes
// CHECK-DAG: updates l by add at 0, 8 bytes
// CHECK-DAG: updates l by min at 8, 8 bytes
kernel void every_operation(global int* a, global ulong* l, int x) {
  atomic_sub(a, x);
  atomic_dec(a);
  atomic_and(a + 1, x);
  atomic_or(a + 2, x);
  atomic_xor(a + 3, x);
  atomic_min(a + 4, x);
  atomic_max(a + 5, x);
  atom_inc(l);
  atom_min(l + 1, (ulong)x);
}

// CHECK-LABEL: kernel compacts(
// CHECK: line [[#@LINE+2]]: can't be split: atomic operation on `n` whose result is used
kernel void compacts(global const int* in, global int* out, global int* n) {
  int slot = atomic_inc(n);
  out[slot] = in[get_global_id(0)];
}

// CHECK-LABEL: kernel looks(
// CHECK: line [[#@LINE+2]]: can't be split: atomic operation on `n`, whose bytes are read in line [[#@LINE+3]]
kernel void looks(global int* out, global int* n) {
  atomic_inc(n);
  out[get_global_id(0)] = *n;
}

// CHECK-LABEL: kernel resets(
// PLAN: not split at {{.*}}: atomic operation on `bins`, whose bytes are written as well (line [[#@LINE+3]])
kernel void resets(global const int* data, global int* bins) {
  bins[get_global_id(0)] = 0;
  atomic_inc(&bins[data[get_global_id(0)]]);
}

// What no launch can tell is refused here.
// CHECK-LABEL: kernel resets_anywhere(
// CHECK: can't be split: atomic operation on `bins`, whose bytes are written in line [[#@LINE+2]]
kernel void resets_anywhere(global const float* data, global int* bins) {
  bins[get_global_id(0)] = 0;
  atomic_inc(&bins[(int)data[get_global_id(0)]]);
}

// CHECK-LABEL: kernel mixes(
// CHECK: can't be split: atomic operation on `n`, whose bytes are updated otherwise in line [[#@LINE+3]]
kernel void mixes(global int* n, int x) {
  atomic_add(n, x);
  atomic_max(n, x);
}

// Signed and unsigned are different orders.
// CHECK-LABEL: kernel signs(
// CHECK: can't be split: atomic operation on `n`, whose bytes are updated otherwise
kernel void signs(global int* n, int x) {
  atomic_max(n, x);
  atomic_max((global uint*)n, (uint)x);
}

// Other bytes of the same buffer do not matter; the launch will see whether they are others.
// CHECK-LABEL: kernel header(
// CHECK-NOT: can't be split
// CHECK: updates a by add at 0, 4 bytes
// CHECK: writes a at 4*(G0 + 1), 4 bytes
kernel void header(global int* a) {
  atomic_inc(a);
  a[1 + get_global_id(0)] = 1;
}

// CHECK-LABEL: kernel exchanges(
// CHECK: can't be split: atomic operation on `n`{{$}}
kernel void exchanges(global int* n) { atomic_xchg(n, 1); }

// CHECK-LABEL: kernel float_sum(
// CHECK-NOT: can't be split
// CHECK-NOT: reads sum
// CHECK: updates sum by float-add at 0, 4 bytes
kernel void float_sum(global const float* in, volatile global float* sum) {
  union { uint bits; float value; } old, new;
  do {
    old.value = *sum;
    new.value = old.value + in[get_global_id(0)];
  }
  while (atomic_cmpxchg((volatile global uint*)sum, old.bits, new.bits) != old.bits);
}

// CHECK-LABEL: kernel float_sum_carried(
// CHECK-NOT: can't be split
// CHECK: updates sum by float-add at 4*G1, 4 bytes
kernel void float_sum_carried(global const float* in, volatile global float* sum) {
  volatile global float* to = sum + get_global_id(1);
  float x = in[get_global_id(0)];
  uint seen = as_uint(*to), before;
  do {
    before = seen;
    seen = atomic_cmpxchg((volatile global uint*)to, before, as_uint(as_float(before) + x));
  } while (seen != before);
}

// What was there before goes elsewhere too.
// CHECK-LABEL: kernel float_sum_kept(
// CHECK: can't be split: atomic operation on `sum`
kernel void float_sum_kept(global float* in, volatile global float* sum) {
  union { uint bits; float value; } old, new;
  do {
    old.value = *sum;
    new.value = old.value + in[get_global_id(0)];
  } while (atomic_cmpxchg((volatile global uint*)sum, old.bits, new.bits) != old.bits);
  in[get_global_id(0)] = old.value;
}

// The addend depends on the sum: these do not commute.
// CHECK-LABEL: kernel doubles(
// CHECK: can't be split: atomic operation on `sum`
kernel void doubles(volatile global float* sum) {
  union { uint bits; float value; } old, new;
  do {
    old.value = *sum;
    new.value = old.value + old.value * 0.5f;
  } while (atomic_cmpxchg((volatile global uint*)sum, old.bits, new.bits) != old.bits);
}
