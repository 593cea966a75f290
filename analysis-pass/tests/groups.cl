// RUN: %splitc --emit=accesses %s | %FileCheck %s
// RUN: %splitc --emit=accesses %s -- -cl-std=CL2.0 | %FileCheck %s --check-prefix=UNEVEN

// CHECK-LABEL: kernel global_only(
// CHECK-NEXT: writes a
kernel void global_only(global int* a) { a[get_global_id(0)] = 0; }

// CHECK-LABEL: kernel tile(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: reads in at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: writes out at 4*G0, 4 bytes{{$}}
kernel void tile(global float* out, global const float* in) {
  local float t[64];
  int l = get_local_id(0);
  t[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[63 - l];
}

// The global id, where all groups have one size. In OpenCL C 2.0 the last may be smaller.
// CHECK-LABEL: kernel group_and_size(
// CHECK-NEXT: needs the partition argument
// CHECK-NEXT: writes a at 4*(G0 - 1*globalOffset0), 4 bytes{{$}}
// UNEVEN-LABEL: kernel group_and_size(
// UNEVEN-NEXT: depends on work-groups
// UNEVEN-NEXT: needs the partition argument
// UNEVEN-NEXT: writes a at 4*(W0*localSize0 + L0), 4 bytes{{$}}
kernel void group_and_size(global int* a) {
  a[get_group_id(0) * get_local_size(0) + get_local_id(0)] = 0;
}

// CHECK-LABEL: kernel by_way_of_ints(
// CHECK-NEXT: needs the partition argument
// CHECK-NEXT: writes a at 4*(G1 - 1*globalOffset1 + 4), 4 bytes{{$}}
kernel void by_way_of_ints(global int* a) {
  int group = get_group_id(1), item = get_local_id(1);
  a[item + group * get_local_size(1) + 4] = 0;
}

// A sum of ints within one of size_t's: local ids are far from where ints end.
// CHECK-LABEL: kernel int_within_size(
// CHECK-NEXT: needs the partition argument
// CHECK-NEXT: writes a at 4*(G0 - 1*globalOffset0 + 4), 4 bytes{{$}}
kernel void int_within_size(global int* a) {
  int group = get_group_id(0), item = get_local_id(0);
  a[4 + item + group * get_local_size(0)] = 0;
}

// CHECK-LABEL: kernel int_within_size_less(
// CHECK-NEXT: needs the partition argument
// CHECK: writes a at 4*(G0 - 1*globalOffset0 + 13), 4 bytes
kernel void int_within_size_less(global int* a) {
  int item = get_local_id(0);
  a[item - 3 + get_group_id(0) * get_local_size(0) + 16] = 0;
}

// An int that may be any number can end between.
// CHECK-LABEL: kernel any_int_within_size(
// CHECK-NEXT: depends on work-groups
kernel void any_int_within_size(global int* a, int n) {
  int group = get_group_id(0), item = get_local_id(0);
  a[n + item + group * get_local_size(0)] = 0;
}

// Other sums of these are none.
// CHECK-LABEL: kernel mixed_dimensions(
// CHECK-NEXT: depends on work-groups
kernel void mixed_dimensions(global int* a) {
  a[get_group_id(0) * get_local_size(1) + get_local_id(0)] = 0;
}

// CHECK-LABEL: kernel partial_sums(
// CHECK: writes sums at 4*W0, 4 bytes, if L0 == 0{{$}}
kernel void partial_sums(global float* sums, global const float* in) {
  local float t[256];
  int l = get_local_id(0);
  t[l] = in[get_global_id(0)];
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) t[l] += t[l + s];
  }
  if (l == 0) sums[get_group_id(0)] = t[0];
}

// CHECK-LABEL: kernel required(
// CHECK-NEXT: work-group size 16 x 8 x 1 required
kernel __attribute__((reqd_work_group_size(16, 8, 1))) void required(global int* a) {
  a[get_global_id(0)] = 0;
}

// CHECK-LABEL: kernel async(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: needs the partition argument
// CHECK-NEXT: reads in at 256*W0 + 4*k0, 4 bytes, k0 < 64{{$}}
// CHECK-NEXT: writes out at 256*W0 + 4*k0, 4 bytes, k0 < n{{$}}
// CHECK-NEXT: reads in at 4*stride*k0, 4 bytes, k0 < n{{$}}
kernel void async(global float* out, global const float* in, uint n, uint stride) {
  local float t[64];
  size_t g = get_group_id(0);
  event_t e = async_work_group_copy(t, in + 64 * g, 64, 0);
  wait_group_events(1, &e);
  e = async_work_group_copy(out + 64 * g, t, n, 0);
  wait_group_events(1, &e);
  e = async_work_group_strided_copy(t, in, n, stride, 0);
  wait_group_events(1, &e);
}

// What the first to ask gets is not the same each time.
// CHECK-LABEL: kernel first_come(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: depends on the order of work-items
// CHECK-NEXT: writes out at 4*G0, 4 bytes{{$}}
kernel void first_come(global int* out) {
  local int taken;
  if (get_local_id(0) == 0)
    taken = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = atomic_inc(&taken);
}

// Local memory alone is none of its business.
// CHECK-LABEL: kernel in_order(
// CHECK-NEXT: depends on work-groups
// CHECK-NOT: depends on the order
// CHECK: writes out at 4*G0, 4 bytes{{$}}
kernel void in_order(global int* out) {
  local int first;
  if (get_local_id(0) == 0)
    first = (int)get_global_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = first;
}
