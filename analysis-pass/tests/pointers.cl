// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel one_of_two(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if 3 < n{{$}}
// CHECK-NEXT: writes b at 4*G0, 4 bytes, if n <= 3{{$}}
// oracle: exact
kernel void one_of_two(global int* a, global int* b, int n) {
  global int* p = n > 3 ? a : b;
  p[get_global_id(0)] = 1;
}

// CHECK-LABEL: kernel two_places(
// CHECK-NEXT: writes a at G0 < 10 ? 12 : 4*G0, 4 bytes{{$}}
kernel void two_places(global int* a) {
  int i = get_global_id(0);
  global int* p = i < 10 ? a + 3 : a + i;
  *p = 2;
}

// The arms are too big to become a select: the pointer is a phi.
// CHECK-LABEL: kernel branch_pointer(
// CHECK: writes b at 4*(G0 + 5), 4 bytes, if 3 < n{{$}}
// CHECK: writes a at 4*G0, 4 bytes, if 3 < n{{$}}
// CHECK: writes b at 4*G0, 4 bytes, if n <= 3{{$}}
// oracle: exact
kernel void branch_pointer(global int* a, global int* b, int n) {
  int i = get_global_id(0);
  global int* p;
  if (n > 3) { p = a; b[i + 5] = 3; } else { p = b; a[i + 7] = 4; }
  p[i] = 1;
}

// Buffers that change roles in a loop: both, anywhere.
// CHECK-LABEL: kernel swapped(
// CHECK-DAG: may write a anywhere: pointer carried around a loop
// CHECK-DAG: may write b anywhere: pointer carried around a loop
kernel void swapped(global int* a, global int* b, int n) {
  global int *p = a, *q = b;
  for (int i = 0; i < n; ++i) {
    p[i] = i;
    global int* t = p; p = q; q = t;
  }
}

// A one-dimensional buffer used as an array of three-dimensional ones.
// CHECK-LABEL: kernel cast_to_3d(
// CHECK-NEXT: writes A at 8*offset + 600*G0 + 200*k0 + 40*k1 + 16, 8 bytes, k0 < 3, k1 < 5{{$}}
kernel void cast_to_3d(global double* A, int offset) {
  int i = get_global_id(0);
  global double(*B)[3][5][5] = (global double(*)[3][5][5]) & A[offset];
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 5; k++) B[i][j][k][2] = 1.0;
}

// CHECK-LABEL: kernel other_element(
// CHECK-NEXT: writes a at 4*G0 + 2, 1 bytes{{$}}
kernel void other_element(global int* a) { ((global uchar*)(a + get_global_id(0)))[2] = 1; }

// CHECK-LABEL: kernel from_integer(
// CHECK: can't be split: access through a computed pointer
kernel void from_integer(ulong address) { *(global int*)address = 1; }

// CHECK-LABEL: kernel loaded_pointer(
// CHECK: can't be split: access through a pointer loaded from `table`
typedef struct { global int* data; } Box;
kernel void loaded_pointer(global Box* table) { table[0].data[get_global_id(0)] = 1; }

// CHECK-LABEL: kernel pointer_array(
// CHECK: can't be split: access through a pointer loaded from private memory
kernel void pointer_array(global int* a, global int* b, int k) {
  global int* both[2] = {a, b};
  both[k & 1][get_global_id(0)] = 1;
}

// Where the kernel never writes, it may be any of what it puts there.
// CHECK-LABEL: kernel kept(
// CHECK-NOT: can't be split
// CHECK-DAG: reads table anywhere: pointer kept in private memory
// CHECK-DAG: reads a anywhere: pointer kept in private memory
// CHECK: writes out at 4*G0, 4 bytes{{$}}
kernel void kept(global float* out, global const int* table, global const float* a) {
  int i = get_global_id(0);
  global const float* rows[8];
  for (int k = 0; k < 8; ++k)
    rows[k] = k < table[0] ? (global const float*)(table + table[k]) : a + k;
  out[i] = rows[i & 7][i];
}

// CHECK-LABEL: kernel kept_in_a_struct(
// CHECK-NOT: can't be split
// CHECK: reads a anywhere: pointer kept in private memory
struct Row { global const float* begin; global const float* end; };
kernel void kept_in_a_struct(global float* out, global const float* a, int n) {
  int i = get_global_id(0);
  struct Row rows[8];
  for (int k = 0; k < min(n, 8); ++k) {
    rows[k].begin = a + k * k;
    rows[k].end = rows[k].begin + k;
  }
  float sum = 0;
  for (global const float* p = rows[i & 7].begin; p < rows[i & 7].end; ++p)
    sum += *p;
  out[i] = sum;
}

// Not where it also puts what may be anything,
// CHECK-LABEL: kernel kept_beside_numbers(
// CHECK: can't be split: access through a pointer loaded from private memory
kernel void kept_beside_numbers(global float* out, global const float* a, ulong address, int n) {
  int i = get_global_id(0);
  union { global const float* row; ulong number; } rows[8];
  for (int k = 0; k < min(n, 8); ++k)
    if (k & 1)
      rows[k].row = a + k;
    else
      rows[k].number = address;
  out[i] = rows[i & 7].row[i];
}

// ... nor by pieces,
// CHECK-LABEL: kernel kept_askew(
// CHECK: can't be split: access through a pointer loaded from private memory
kernel void kept_askew(global float* out, global const float* a, int n) {
  int i = get_global_id(0);
  global const float* rows[8];
  for (int k = 0; k < min(n, 8); ++k)
    rows[k] = a + k;
  struct __attribute__((packed)) Askew { int first; global const float* row; };
  out[i] = ((struct Askew*)&rows[i & 3])->row[i];
}

// ... nor what it writes to.
// CHECK-LABEL: kernel kept_and_written(
// CHECK: can't be split: access through a pointer loaded from private memory
kernel void kept_and_written(global float* out, global float* a, int n) {
  int i = get_global_id(0);
  global float* rows[8];
  for (int k = 0; k < min(n, 8); ++k)
    rows[k] = a + k;
  out[i] = rows[i & 7][i];
  a[i] = 1;
}

// Two pointers into the same buffer, of which one may be null.
// CHECK-LABEL: kernel perhaps(
// CHECK-NEXT: may write a at 4*G0, 4 bytes, if G0 < m and G0 < n
// CHECK-NEXT: may write a at 8*G0, 4 bytes, if n <= G0
kernel void perhaps(global int* a, int m, int n) {
  int i = get_global_id(0);
  global int* q = i < m ? a + i : 0;
  global int* r = i < n ? q : a + 2 * i;
  if (r)
    *r = i + 1;
}
