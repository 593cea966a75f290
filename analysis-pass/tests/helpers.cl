// Functions are inlined; lines are those of the access itself.
// RUN: %splitc %s | %FileCheck %s

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

int count_down(int n) { return n > 0 ? count_down(n - 1) : 0; }
// CHECK-LABEL: kernel recursive(
// CHECK-NEXT: can't be split: call to `count_down`
kernel void recursive(global int* a) { a[count_down(3)] = 1; }
