// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel float_index(
// CHECK: may write a anywhere: computed in floating point
kernel void float_index(global int* a) { a[(int)(get_global_id(0) * 0.5f)] = 0; }

// CHECK-LABEL: kernel computed_dimension(
// CHECK: may write a anywhere: `get_global_id` of a computed dimension
kernel void computed_dimension(global int* a, uint d) { a[get_global_id(d)] = 0; }

// CHECK-LABEL: kernel private_table(
// CHECK: may write a anywhere: value loaded from private memory
kernel void private_table(global int* a, int k) {
  int table[8];
  for (int i = 0; i < 8; ++i) table[i] = i * i;
  a[table[k & 7]] = 0;
}

constant int permutation[4] = {2, 0, 3, 1};
// CHECK-LABEL: kernel constant_table(
// CHECK: may write a at 4*min(max(unknown(value loaded from `permutation`), 0), 3), 4 bytes
kernel void constant_table(global int* a) { a[permutation[get_global_id(0) & 3]] = 0; }

// CHECK-LABEL: kernel changed_parameter(
// CHECK: may write a anywhere: parameter `s` is changed in the kernel
typedef struct { int at[4]; int n; } S;
kernel void changed_parameter(global int* a, S s) {
  s.at[get_global_id(0) & 3] = 7;
  a[s.n] = 0;
}
