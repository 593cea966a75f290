// Division by zero gives an unspecified value in OpenCL C, and nothing is folded away for it.
// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel rows(
// CHECK-NEXT: writes a at 4*((G0/w)*h + G0%w), 4 bytes{{$}}
kernel void rows(global int* a, int w, int h) {
  int i = get_global_id(0);
  a[i / w * h + i % w] = 1;
}

// A number that a variable holds is a number.
// CHECK-LABEL: kernel known_width(
// CHECK-NEXT: writes a at 4*(20*(G0/16) + G0%16), 4 bytes{{$}}
kernel void known_width(global int* a) {
  int w = 16, i = get_global_id(0);
  a[i / w * 20 + i % w] = 1;
}

// CHECK-LABEL: kernel by_itself(
// CHECK-NEXT: may write a at 4*G0, 4 bytes
kernel void by_itself(global int* a) {
  int i = get_global_id(0), zero = i - i;
  if (zero / zero == 1) a[i] = 1;
}

// CHECK-LABEL: kernel branch(
// CHECK-NEXT: writes a at 0, 4 bytes
// CHECK-NEXT: may write a at 4, 4 bytes
// CHECK-NEXT: may write a at 8, 4 bytes
kernel void branch(global int* a, int n) {
  int zero = 0;
  a[0] = 1;
  if (n / zero) a[1] = 1;
  else a[2] = 1;
}

// The front end itself folds this.
// CHECK-LABEL: kernel of_numbers(
// CHECK-NEXT: may write a at 0, 4 bytes
// CHECK-NEXT: may write a at 4, 4 bytes
kernel void of_numbers(global int* a) {
  if (5 / 0) a[0] = 1;
  else a[1] = 1;
}

// CHECK-LABEL: kernel masked(
// CHECK-NEXT: may write a at 4*(G0 + (unknown(division by zero) & 3)), 4 bytes
kernel void masked(global int* a, int n) { a[get_global_id(0) + (n % 0 & 3)] = 1; }

// Each component by itself.
// CHECK-LABEL: kernel vector(
// CHECK-NEXT: writes a at 4*(G0 + n/m), 4 bytes
// CHECK-NEXT: may write a at 4*(unknown(division by zero) & 3), 4 bytes
kernel void vector(global int* a, int n, int m) {
  int2 v = (int2)(n, 5) / (int2)(m, 0);
  a[get_global_id(0) + v.x] = 1;
  a[v.y & 3] = 2;
}
