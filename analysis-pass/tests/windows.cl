// Kernels for copies that hold parts of buffers.
// RUN: grep -v '^//' %s | %splitc - --emit=windowed > %t.cl
// RUN: %recompile12 < %t.cl
// RUN: %FileCheck %s < %t.cl

// The same of partition-ready text: its argument comes first.
// RUN: grep -v '^//' %s | %splitc - --emit=source | %splitc - --emit=windowed > %t.parts.cl
// RUN: %recompile12 < %t.parts.cl
// RUN: %FileCheck --check-prefix=PARTS %s < %t.parts.cl

// RUN: echo 'kernel void none(local int* a) { a[0] = 1; }' | %splitc - --emit=windowed | %FileCheck --check-prefix=NONE %s
// NONE: {{^}}kernel void none(local int* a) { a[0] = 1; }

typedef global float* Row;

// Functions that are no kernels get pointers that are moved already.
// CHECK: {{^}}float first(global const float* a) { return a[0]; }
float first(global const float* a) { return a[0]; }

// CHECK: {{^}}kernel void copy(global float* out, global const float* restrict in, int n, ulong16 libsplit_window) { out = (global void*)((global char*)out - libsplit_window.s0); in = (global void*)((global char*)in - libsplit_window.s1);
// PARTS: {{^}}kernel void copy(global float* out, global const float* restrict in, int n, ulong16 libsplit_part, ulong16 libsplit1_window) { out = (global void*)((global char*)out - libsplit1_window.s0);
kernel void copy(global float* out, global const float* restrict in, int n) {
  const int i = get_group_id(0);
  if (i < n)
    out[i] = first(in + i);
}

// Only pointers to global memory count.
// CHECK: {{^}}kernel void mixed(constant int* c, global int4* restrict a, local int* l, Row row, ulong16 libsplit_window) { a = (global void*)((global char*)a - libsplit_window.s0); row = (global void*)((global char*)row - libsplit_window.s1);
kernel void mixed(constant int* c, global int4* restrict a, local int* l, Row row) {
  a[get_global_id(0)].x = c[0] + (int)row[1];
}

// An array of arrays, what may not be cached, and a name that nobody uses.
// CHECK: {{^}}kernel void shapes(global float (*m)[4], volatile global uint* v, global int*, ulong16 libsplit_window) { m = (global void*)((global char*)m - libsplit_window.s0); v = (global void*)((global char*)v - libsplit_window.s1);
kernel void shapes(global float (*m)[4], volatile global uint* v, global int*) { m[v[0]][1] = 1; }

// A kernel that calls a kernel has moved its pointers.
// CHECK: {{^}}kernel void calls(global float* a, ulong16 libsplit_window) { a = {{.*}} copy(a, a + 1, 3, (ulong16)(0)); }
// PARTS: copy(a, a + 1, 3, libsplit_part, (ulong16)(0)); }
kernel void calls(global float* a) { copy(a, a + 1, 3); }

// A pointer that may not be changed, and too many of them: such kernels take no windows.
// CHECK: {{^}}kernel void fixed(global int* const a) { a[0] = 1; }
kernel void fixed(global int* const a) { a[0] = 1; }
// CHECK: {{^}}kernel void many({{.*}}global int* q) { q[0] = 1; }
kernel void many(global int* a, global int* b, global int* c, global int* d, global int* e, global int* f, global int* g, global int* h, global int* i, global int* j, global int* k, global int* l, global int* m, global int* n, global int* o, global int* p, global int* q) { q[0] = 1; }

// A declaration ahead; kernels out of a macro.
// CHECK: {{^}}kernel void late(global int* a, ulong16 libsplit_window);
kernel void late(global int* a);
// CHECK: {{^}}kernel void late(global int* b, ulong16 libsplit_window) { b = (global void*)((global char*)b - libsplit_window.s0); b[0] = 1; }
kernel void late(global int* b) { b[0] = 1; }
// CHECK: {{^}}#define DEFINE(name, type) kernel void name(global type* a, ulong16 libsplit_window) { a = (global void*)((global char*)a - libsplit_window.s0); a[get_global_id(0)] = 1; }
#define DEFINE(name, type) kernel void name(global type* a) { a[get_global_id(0)] = 1; }
DEFINE(ints, int)
DEFINE(floats, float)
