// Functions are inlined; lines are those of the access itself.
// RUN: %splitc --emit=accesses %s | %FileCheck %s

int index_of(int x, int y, int w) { return y * w + x; }

__attribute__((noinline)) void put(global float* at, int i, float value) {
  at[i] = value; // line 7
}

// CHECK-LABEL: kernel nested_calls(
// CHECK-NEXT: line 7: writes a at 4*(G1*w + G0), 4 bytes{{$}}
kernel void nested_calls(global float* a, int w) {
  put(a, index_of(get_global_id(0), get_global_id(1), w), 1);
}

// CHECK-LABEL: kernel calls_a_kernel(
// CHECK-NEXT: line 7: writes b at 4*(G1*w + G0), 4 bytes{{$}}
kernel void calls_a_kernel(global float* b, int w) { nested_calls(b, w); }

// What calls itself is not inlined. Without side effects only its value is lost, ...
int count_down(int n) { return n > 0 ? count_down(n - 1) + get_group_id(0) : 0; }
// CHECK-LABEL: kernel recursive(
// CHECK-NEXT: depends on work-groups
// CHECK-NEXT: needs the partition argument
// CHECK-NEXT: may write a anywhere: result of `count_down`
kernel void recursive(global int* a) { a[count_down(3)] = 1; }

// ... but what it does to buffers can't be told.
void fill(global int* a, int n) {
  a[n] = 0;
  if (n > 0) fill(a, n - 1);
}
// CHECK-LABEL: kernel recursive_writer(
// CHECK-NEXT: can't be split: call to `fill`
kernel void recursive_writer(global int* a) { fill(a, 3); }
