// Numbers inside by-value arguments, named by their first bit.
// RUN: %splitc %s --emit=summary | %FileCheck %s

typedef struct { int width; float scale; long base; int4 v; } Grid;

// CHECK-LABEL: (kernel "struct_member"
// CHECK: (parameter "g" "Grid" scalar 32)
// CHECK: (add (mul (wrap s 32 (add (mul G1 (arg 1 s 32 0)) G0)) 4) (mul (arg 1 s 64 64) 4)
kernel void struct_member(global int* a, Grid g) {
  int i = get_global_id(1) * g.width + get_global_id(0);
  global int* p = a + i;
  p[g.base] = 0;
}

// CHECK-LABEL: (kernel "vector_in_struct"
// CHECK: (arg 1 s 32 192)
kernel void vector_in_struct(global int* a, Grid g) { a[g.v.z] = 0; }

// CHECK-LABEL: (kernel "vector_component"
// CHECK: (parameter "size" "uint3" scalar 16)
// CHECK: (arg 1 u 32 64)
kernel void vector_component(global int* a, uint3 size) { a[size.z] = 0; }

// CHECK-LABEL: (kernel "loop_bound_in_struct"
// CHECK: (loop exact (max (arg 1 s 32 0) 0))
kernel void loop_bound_in_struct(global int* a, Grid g) {
  for (int i = 0; i < g.width; ++i) a[i] = 0;
}
