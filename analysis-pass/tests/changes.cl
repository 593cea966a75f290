// Stores of what was worked out from what stood in their place: of several devices, the work of all
// but one would be lost.
// RUN: %splitc --emit=summary %s | %FileCheck %s

// CHECK-LABEL: kernel "add"
// CHECK: access 0 write possible 4 {{.*}} (changes)
kernel void add(global float* out, global int* at, float x) {
  const int a = at[get_global_id(0)];
  at[0] = 1;
  out[a] += x;
}

// CHECK-LABEL: kernel "greatest"
// CHECK: access 0 write possible 4 {{.*}} (changes)
kernel void greatest(global int* out, global int* at, int v) {
  const int a = at[get_global_id(0)], mine = v * (int)get_global_id(0);
  at[0] = 1;
  if (mine > out[a])
    out[a] = mine;
}

// CHECK-LABEL: kernel "greatest_by_name"
// CHECK: access 0 write possible 4 {{.*}} (changes)
kernel void greatest_by_name(global int* out, global int* at, int v) {
  const int a = at[get_global_id(0)];
  at[0] = 1;
  out[a] = max(out[a], v * (int)get_global_id(0));
}

// CHECK-LABEL: kernel "vectors"
// CHECK: access 0 write possible 16 {{.*}} (changes)
kernel void vectors(global float* out, global int* at, float v) {
  const int a = at[get_global_id(0)];
  at[0] = 1;
  vstore4(vload4(a, out) * v, a, out);
}

// CHECK-LABEL: kernel "component"
// CHECK: access 0 write possible 4 {{.*}} (changes)
kernel void component(global float4* out, global int* at, float v) {
  const int a = at[get_global_id(0)];
  at[0] = 1;
  out[a].y += v;
}

// What others of the vector hold is stored back.
// CHECK-LABEL: kernel "component_alone"
// CHECK-NOT: (changes)
kernel void component_alone(global float4* out, global int* at, float v) {
  const int a = at[get_global_id(0)];
  at[0] = 1;
  out[a].y = v;
}

// Whoever is first stores the same.
// CHECK-LABEL: kernel "mark"
// CHECK-NOT: (changes)
kernel void mark(global int* out, global int* at) {
  const int a = at[get_global_id(0)];
  at[0] = 1;
  if (!out[a])
    out[a] = 1;
}

// The same of what is worked out from arguments, whatever it is compared with.
// CHECK-LABEL: kernel "nearer"
// CHECK-NOT: (changes)
kernel void nearer(global int* out, global int* at, int level) {
  const int a = at[get_global_id(0)];
  at[0] = 1;
  if (out[a] > level + 1)
    out[a] = level + 1;
}

// From another place.
// CHECK-LABEL: kernel "next_level"
// CHECK-NOT: (changes)
kernel void next_level(global int* level, global int* at) {
  const int i = get_global_id(0), a = at[i];
  at[0] = 1;
  if (level[a] < 0)
    level[a] = level[i] + 1;
}

// Compared as other types, a little off, or in parts.
// CHECK-LABEL: kernel "greatest_of_bytes"
// CHECK: access 0 write possible 1 {{.*}} (changes)
kernel void greatest_of_bytes(global uchar* out, global const uchar* x, global int* at) {
  const int i = get_global_id(0), a = at[i];
  at[0] = 1;
  if (x[i] > out[a])
    out[a] = x[i];
}

// CHECK-LABEL: kernel "nearly_least"
// CHECK: access 0 write possible 4 {{.*}} (changes)
kernel void nearly_least(global float* out, global const float* x, global int* at) {
  const int i = get_global_id(0), a = at[i];
  const float z = x[i];
  at[0] = 1;
  if (z + 1e-3f < out[a])
    out[a] = z;
}

// CHECK-LABEL: kernel "packed"
// CHECK: access 0 write possible 4 {{.*}} (changes)
kernel void packed(global uint* out, global const uint* x, global int* at) {
  const uint i = get_global_id(0), a = at[i], key = x[i];
  at[0] = 1;
  if (key < out[a] >> 16)
    out[a] = key << 16 | i;
}

// CHECK-LABEL: kernel "best_of_several"
// CHECK: access 0 write possible 4 {{.*}} (changes)
kernel void best_of_several(global int* out, global const int* x, global int* at, int n) {
  const int i = get_global_id(0), a = at[i];
  at[0] = 1;
  int best = out[a];
  for (int k = 0; k < n; ++k)
    if (x[i * n + k] < best)
      best = x[i * n + k];
  out[a] = best;
}

// The winner's number is kept, by what it points to.
// CHECK-LABEL: kernel "index_of_least"
// CHECK: access 0 write possible 4 {{.*}} (changes)
kernel void index_of_least(global int* out, global const float* z, global int* at) {
  const int i = get_global_id(0), a = at[i];
  at[0] = 1;
  const int b = out[a];
  if (b < 0 || z[i] < z[b])
    out[a] = i;
}

// Whoever is first may stay: what it is does not decide that.
// CHECK-LABEL: kernel "first_come"
// CHECK-NOT: (changes)
kernel void first_come(global int* out, global int* at) {
  const int i = get_global_id(0), a = at[i];
  at[0] = 1;
  if (out[a] < 0)
    out[a] = i;
}

// As convergence is looked for: by the difference.
// CHECK-LABEL: kernel "by_difference"
// CHECK: access 0 write possible 4 {{.*}} (changes)
kernel void by_difference(global float* out, global const float* x, global int* at) {
  const int i = get_global_id(0), a = at[i];
  const float z = x[i];
  at[0] = 1;
  if (out[a] - z > 1e-6f)
    out[a] = z;
}

// The place read and written in two forms, or by two loads of the index.
// CHECK-LABEL: kernel "one_of_a_vector"
// CHECK: access 0 write {{.*}} (changes)
kernel void one_of_a_vector(global float* out, global const int* at, float q) {
  const int a = at[get_global_id(0)];
  const float4 v = vload4(a, out);
  out[4 * a + 1] = v.y * q;
}

// CHECK-LABEL: kernel "looked_up_again"
// CHECK: access 0 write {{.*}} (changes)
kernel void looked_up_again(global float* y, global const int* index, global float* x) {
  const int i = get_global_id(0);
  const float old = y[index[i]];
  x[i] = old;
  y[index[i]] = old + 1;
}

// Beside it.
// CHECK-LABEL: kernel "the_next_one"
// CHECK-NOT: (changes)
kernel void the_next_one(global float* out, global const int* at, float q) {
  const int a = at[get_global_id(0)];
  out[4 * a] = out[4 * a + 1] * q;
}

// Kept meanwhile.
// CHECK-LABEL: kernel "by_way_of_an_array"
// CHECK: access 0 write {{.*}} (changes)
kernel void by_way_of_an_array(global float* out, global const int* at, int n, float q) {
  const int a = at[get_global_id(0)];
  float kept[16];
  for (int k = 0; k < n; ++k)
    kept[k & 15] = out[16 * a + k];
  for (int k = 0; k < n; ++k)
    out[16 * a + k] = kept[(k + 1) & 15] + q;
}
