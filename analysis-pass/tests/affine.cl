// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel scale_1d(
// CHECK-NEXT: line [[#@LINE+4]]: reads in at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: line [[#@LINE+3]]: writes out at 4*G0, 4 bytes{{$}}
kernel void scale_1d(global float* out, global const float* in) {
  int i = get_global_id(0);
  out[i] = 2 * in[i];
}

// CHECK-LABEL: kernel transpose(
// CHECK-NEXT: reads in at 4*(G1*w + G0), 4 bytes{{$}}
// CHECK-NEXT: writes out at 4*(G0*h + G1), 4 bytes{{$}}
kernel void transpose(global float* out, global const float* in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  out[x * h + y] = in[y * w + x];
}

// CHECK-LABEL: kernel volume(
// CHECK-NEXT: writes a at 2*((G2*h + G1)*w + G0), 2 bytes{{$}}
kernel void volume(global short* a, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  a[(z * h + y) * w + x] = 1;
}

// CHECK-LABEL: kernel planes(
// CHECK-NEXT: writes f at 8*G0, 8 bytes{{$}}
// CHECK-NEXT: writes f at 8*(n + G0), 8 bytes{{$}}
// CHECK-NEXT: writes f at 8*(2*n + G0), 8 bytes{{$}}
kernel void planes(global double* f, uint n) {
  uint id = get_global_id(0);
  f[0 * n + id] = 0;
  f[1 * n + id] = 1;
  f[2 * n + id] = 2;
}

// CHECK-LABEL: kernel backwards(
// CHECK-NEXT: writes a at 4*(n - 1*G0 - 1), 4 bytes{{$}}
kernel void backwards(global int* a, int n) { a[n - 1 - get_global_id(0)] = 0; }

// CHECK-LABEL: kernel size_as_stride(
// CHECK-NEXT: needs the partition argument
// CHECK-NEXT: writes a at 4*(G1*globalSize0 + G0), 4 bytes{{$}}
kernel void size_as_stride(global int* a) {
  a[get_global_id(1) * get_global_size(0) + get_global_id(0)] = 0;
}

// Devices don't agree on dimensions beyond the third.
// CHECK-LABEL: kernel beyond(
// CHECK: may write a anywhere: `get_global_size` of a dimension beyond the third
kernel void beyond(global int* a) { a[get_global_size(3)] = 0; }

// The same bytes read twice are one access.
// CHECK-LABEL: kernel twice(
// CHECK-NEXT: reads in at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: writes out at 4*G0, 4 bytes{{$}}
// CHECK-EMPTY:
kernel void twice(global int* out, global const int* in, int n) {
  int i = get_global_id(0);
  out[i] = in[i];
  out[i] += in[i] + n;
}

// CHECK-LABEL: kernel linear_id(
// CHECK-NEXT: needs the partition argument
// CHECK-NEXT: writes a at 4*((G1 - 1*globalOffset1)*globalSize0 + G0), 4 bytes{{$}}
kernel void linear_id(global int* a) {
  size_t id = (get_global_id(1) - get_global_offset(1)) * get_global_size(0) + get_global_id(0);
  a[id] = 0;
}
