// RUN: %splitc --emit=accesses %s | %FileCheck %s
// Indices and bounds that are loaded from buffers which the kernel only reads.

// CHECK-LABEL: kernel csr(
// CHECK-NEXT: reads ptr at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: reads ptr at 4*(G0 + 1), 4 bytes{{$}}
// CHECK-NEXT: reads v at 4*(ptr[G0] + k0), 4 bytes, k0 < max(ptr[G0 + 1] - 1*ptr[G0], 0), by `ptr` at launch{{$}}
// CHECK-NEXT: reads col at 4*(ptr[G0] + k0), 4 bytes, k0 < {{.*}}, by `ptr` at launch{{$}}
// CHECK-NEXT: reads x at 4*col[ptr[G0] + k0], 4 bytes, k0 < {{.*}}, by `col`, `ptr` at launch{{$}}
// CHECK-NEXT: writes y at 4*G0, 4 bytes{{$}}
kernel void csr(global float* y, global const float* v, global const int* col,
                global const int* ptr, global const float* x) {
  size_t r = get_global_id(0);
  float s = 0;
  for (int k = ptr[r]; k < ptr[r + 1]; k++) s += v[k] * x[col[k]];
  y[r] = s;
}

// A work-group for each row, its work-items side by side.
// CHECK-LABEL: kernel csr_vector(
// CHECK: reads v at 4*(ptr[W0] + L0 + 32*k0), 4 bytes, k0 < max(floordiv({{.*}}, 32), 0), by `ptr` at launch{{$}}
kernel void csr_vector(global float* y, global const float* v, global const uint* ptr) {
  float s = 0;
  for (uint k = ptr[get_group_id(0)] + get_local_id(0); k < ptr[get_group_id(0) + 1]; k += 32)
    s += v[k];
  y[get_global_id(0)] = s;
}

// CHECK-LABEL: kernel scatter(
// CHECK: writes out at 4*index[G0], 4 bytes, by `index` at launch{{$}}
kernel void scatter(global float* out, global const int* index) {
  int target = index[get_global_id(0)];
  out[target] = 1;
}

// CHECK-LABEL: kernel block_list(
// CHECK: writes out at 4*(base[block[W0]] + L0), 4 bytes, by `base`, `block` at launch{{$}}
kernel void block_list(global float* out, global const int* base, global const ushort* block) {
  out[base[block[get_group_id(0)]] + get_local_id(0)] = 0;
}

// CHECK-LABEL: kernel records(
// CHECK: reads a at 4*(range[2*G0] + k0), 4 bytes, k0 < max(range[2*G0 + 1] - 1*range[2*G0], 0)
typedef struct { int begin, end; } Range;
kernel void records(global float* out, global const float* a, global const Range* range) {
  Range r = range[get_global_id(0)];
  float s = 0;
  for (int k = r.begin; k < r.end; ++k) s += a[k];
  out[get_global_id(0)] = s;
}

// CHECK-LABEL: kernel bound(
// CHECK: writes out at 4*G0, 4 bytes, if G0 < n[0]{{$}}
kernel void bound(global float* out, global const int* n) {
  int i = get_global_id(0);
  if (i < *n) out[i] = 0;
}

// A condition on each element is not worth reading them all beforehand.
// CHECK-LABEL: kernel masked(
// CHECK: may write out at 4*G0, 4 bytes{{$}}
kernel void masked(global float* out, global const char* mask) {
  int i = get_global_id(0);
  if (mask[i]) out[i] = 0;
}

// But it is kept for the inspection of what depends on elements anyway.
// CHECK-LABEL: kernel present(
// CHECK: may write out at 4*target[G0], 4 bytes, by `target` at launch, if G0 < n and 0 <= target[G0] (inspected){{$}}
kernel void present(global float* out, global const int* target, int n) {
  int i = get_global_id(0);
  if (i < n && target[i] >= 0) out[target[i]] = 0;
}

// CHECK-LABEL: kernel owned(
// CHECK: may write out at 4*target[G0], 4 bytes, by `target` at launch, if owner[G0] == who (inspected) and target[G0] != -1 (inspected){{$}}
kernel void owned(global float* out, global const int* target, global const char* owner, char who) {
  int i = get_global_id(0);
  if (owner[i] != who) return;
  int at = target[i];
  if (at != -1) out[at] = 0;
}

// One of two conditions on elements tells nothing that is kept.
// CHECK-LABEL: kernel one_of_two(
// CHECK: may write out at 4*target[G0], 4 bytes, by `target` at launch{{$}}
kernel void one_of_two(global float* out, global const int* target, global const char* a) {
  int i = get_global_id(0);
  if (a[i] == 3 || target[i] == 5) out[target[i]] = 0;
}

// What the kernel writes may be anything by the time it is loaded.
// CHECK-LABEL: kernel written(
// CHECK: may write out anywhere: value loaded from `index`
kernel void written(global float* out, global int* index) {
  int i = get_global_id(0);
  out[index[i]] = 0;
  index[i] = i;
}

// CHECK-LABEL: kernel written_by_a_call(
// CHECK: may write out anywhere: value loaded from `index`
kernel void written_by_a_call(global float* out, global int* index) {
  int i = get_global_id(0);
  out[index[i]] = 0;
  vstore4((int4)(0), i, index);
}

// CHECK-LABEL: kernel written_through_a_choice(
// CHECK: may write out anywhere: value loaded from `index`
kernel void written_through_a_choice(global int* out, global int* index, int n) {
  int i = get_global_id(0);
  out[index[i]] = 0;
  global int* either = i < n ? out : index;
  either[i] = 1;
}

// CHECK-LABEL: kernel chased(
// CHECK: reads a anywhere
kernel void chased(global int* out, global const int* next, global const int* a) {
  int node = get_global_id(0), s = 0;
  for (int k = 0; k < 8; ++k) {
    s += a[node];
    node = next[node];
  }
  out[get_global_id(0)] = s;
}
