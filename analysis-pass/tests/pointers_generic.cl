// Generic pointers of OpenCL C 2.0.
// RUN: %splitc --emit=accesses %s --device-version=200 -- -cl-std=CL2.0 | %FileCheck %s

int sum(const int* p, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += p[i];
  return s;
}

// CHECK-LABEL: kernel generic_helper(
// CHECK-NEXT: reads in at 16*G0 + 4*k0, 4 bytes, k0 < 4{{$}}
// CHECK-NEXT: writes out at 4*G0, 4 bytes{{$}}
kernel void generic_helper(global int* out, global const int* in) {
  size_t i = get_global_id(0);
  out[i] = sum(in + 4 * i, 4);
}

// CHECK-LABEL: kernel linear(
// CHECK-NEXT: needs the partition argument
// CHECK-NEXT: writes a at 4*(((G2 - 1*globalOffset2)*globalSize1 + G1 - 1*globalOffset1)*globalSize0 + G0 - 1*globalOffset0), 4 bytes{{$}}
kernel void linear(global int* a) { a[get_global_linear_id()] = 1; }

// CHECK-LABEL: kernel c11_atomic(
// CHECK: updates a by add at 0, 4 bytes
kernel void c11_atomic(global atomic_int* a) { atomic_fetch_add(a, 1); }

// CHECK-LABEL: kernel c11_atomic_explicit(
// CHECK: can't be split: atomic operation on `a`
kernel void c11_atomic_explicit(global atomic_int* a) {
  atomic_store_explicit(a, 1, memory_order_relaxed, memory_scope_device);
}

global int counter;
// CHECK-LABEL: kernel program_scope(
// CHECK: can't be split: program-scope variable `counter`
kernel void program_scope(global int* a) { counter = a[0]; }

// CHECK-LABEL: kernel pipe_reader(
// CHECK: can't be split: parameter `p` of type
kernel void pipe_reader(read_only pipe int p, global int* a) {
  int value;
  read_pipe(p, &value);
  a[0] = value;
}

// CHECK-LABEL: kernel work_groups(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
kernel void work_groups(global int* a) { a[get_global_id(0)] = work_group_reduce_add(3); }

// CHECK-LABEL: kernel sub_groups(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: depends on sub-groups
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
kernel void sub_groups(global int* a) { a[get_global_id(0)] = sub_group_reduce_add(3); }

// CHECK-LABEL: kernel which_sub_group(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: depends on sub-groups
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
kernel void which_sub_group(global uint* a) { a[get_global_id(0)] = get_sub_group_id(); }

// CHECK-LABEL: kernel before_in_sub_group(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: depends on sub-groups
kernel void before_in_sub_group(global uint* a) {
  a[get_global_id(0)] = get_sub_group_lt_mask().x;
}

// CHECK-LABEL: kernel sub_group_fence(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
kernel void sub_group_fence(global uint* a) {
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = 1;
}
