// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel prints(
// CHECK: line [[#@LINE+1]]: can't be split: printf
kernel void prints(int x) { printf("%d\n", x); }

// CHECK-LABEL: kernel old_atomic(
// CHECK: line [[#@LINE+1]]: can't be split: atomic operation on `a` whose result is used
kernel void old_atomic(global int* a) { a[atomic_add(a, 1)] = 0; }

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
// CHECK-LABEL: kernel older_atomic(
// CHECK: line [[#@LINE+1]]: can't be split: atomic operation on `a`
kernel void older_atomic(global long* a) { atom_xchg(a, 1); }

// Atomics on local memory stay in the work-group.
// CHECK-LABEL: kernel local_atomic(
// CHECK-NOT: can't be split
// CHECK: writes a at 4*W0, 4 bytes
kernel void local_atomic(global int* a, local int* sum) {
  atomic_add(sum, 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_group_id(0)] = *sum;
}

// CHECK-LABEL: kernel waits(
// CHECK: can't be split: volatile read of `flag`
kernel void waits(global volatile int* flag) { while (*flag == 0) {} }

// A volatile store is one like others where no work-group can wait for it.
// CHECK-LABEL: kernel stores(
// CHECK-NEXT: writes a at 4*G0, 4 bytes
// CHECK-NEXT: writes done at 0, 4 bytes
// CHECK-NOT: can't be split
// CHECK-LABEL: kernel stores_and_reads(
// CHECK: can't be split: volatile read of `other`
kernel void stores(global volatile int* a, global volatile int* done) {
  a[get_global_id(0)] = 1;
  *done = 1;
}
kernel void stores_and_reads(global volatile int* a, global const volatile int* other) {
  a[get_global_id(0)] = other[get_global_id(0)];
}

void elsewhere(global int* a);
// CHECK-LABEL: kernel calls_elsewhere(
// CHECK: can't be split: call to `elsewhere`
kernel void calls_elsewhere(global int* a) { elsewhere(a); }

// CHECK-LABEL: kernel assembly(
// CHECK: can't be split: inline assembly
kernel void assembly(global int* a) { __asm__ volatile("nop"); a[0] = 1; }

// Addresses are others on each device; how far one is from another is not.
// CHECK-LABEL: kernel keeps_address(
// CHECK: line [[#@LINE+2]]: can't be split: stores the address of `a`
kernel void keeps_address(global float* a, global ulong* places) {
  places[get_global_id(0)] = (ulong)(a + get_global_id(0));
}
// CHECK-LABEL: kernel keeps_pointer(
// CHECK: line [[#@LINE+3]]: can't be split: stores the address of `a`
struct Node { global float* first; int count; };
kernel void keeps_pointer(global float* a, global struct Node* nodes) {
  nodes[get_global_id(0)].first = a + 4 * get_global_id(0);
}
// CHECK-LABEL: kernel keeps_low_bits(
// CHECK: can't be split: stores the address of `a`
kernel void keeps_low_bits(global float* a, global uint* o) {
  o[get_global_id(0)] = (uint)(ulong)a & 15;
}
// CHECK-LABEL: kernel asks_for_alignment(
// CHECK: line [[#@LINE+3]]: can't be split: what it does depends on the address of `a`
kernel void asks_for_alignment(global const int* a, global int* o) {
  const int i = get_global_id(0);
  if (((ulong)a & 31) == 0)
    vstore2(vload2(i, a), i, o);
  else
    o[i] = a[i];
}
// CHECK-LABEL: kernel begins_at_a_line(
// CHECK: can't be split: what it does depends on the address of `a`
kernel void begins_at_a_line(global const int* a, global int* o, int n) {
  const int begin = 16 * get_global_id(0) - ((uint)(ulong)a & 63) / 4;
  for (int k = max(begin, 0); k < min(begin + 16, n); ++k)
    o[k] = a[k];
}
// CHECK-LABEL: kernel stores_by_its_bits(
// CHECK: can't be split: what it does depends on the address of `o`
kernel void stores_by_its_bits(global const int2* a, global int* o) {
  const int i = get_global_id(0);
  vstore2(a[i], i ^ ((uint)(ulong)o & 16), o);
}
// CHECK-LABEL: kernel asks_which_is_first(
// CHECK: can't be split: what it does depends on the address of
kernel void asks_which_is_first(global const int* a, global int* o, int n) {
  const int i = get_global_id(0);
  o[(ulong)a < (ulong)o ? i : n - 1 - i] = a[i];
}
// CHECK-LABEL: kernel keeps_distance_of_two(
// CHECK: can't be split: stores the address of
kernel void keeps_distance_of_two(global const int* a, global int* o) {
  o[get_global_id(0)] = (int)((ulong)a - (ulong)o);
}
// CHECK-LABEL: kernel keeps_a_chosen_distance(
// CHECK: can't be split: stores the address of
kernel void keeps_a_chosen_distance(global const int* a, global const int* b, global int* o) {
  const int i = get_global_id(0);
  global const int* p = i & 1 ? a : b;
  o[i] = (int)((ulong)p - (ulong)a) & 63;
}
// CHECK-LABEL: kernel compares_lowest_bytes(
// CHECK: can't be split: what it does depends on the address of `b`
kernel void compares_lowest_bytes(global const int* b, global int* o) {
  const int i = get_global_id(0);
  if ((uchar)(ulong)(b + i) < (uchar)(ulong)b)
    o[i] = 1;
}
// CHECK-LABEL: kernel asks_a_kept_pointer(
// CHECK: can't be split: what it does depends on the address of
typedef struct {
  global int* p;
  int n;
} Row;
kernel void asks_a_kept_pointer(global int* a, global int* b, int n) {
  Row rows[4];
  for (int k = 0; k < 4; ++k) {
    rows[k].p = k & 1 ? a : b;
    rows[k].n = k;
  }
  Row r = rows[n & 3];
  if (((ulong)r.p & 15) == 0)
    a[get_global_id(0)] = r.n;
}
// CHECK-LABEL: kernel keeps_a_struct(
// CHECK: can't be split: stores the address of
kernel void keeps_a_struct(global int* a, global Row* out, int n) {
  Row row[2];
  row[0].p = a;
  row[1].p = a + n;
  row[0].n = row[1].n = n;
  out[get_global_id(0)] = row[n & 1];
}
// CHECK-LABEL: kernel keeps_half_an_address(
// CHECK: can't be split: takes what may be part of the address of
typedef union {
  global int* p;
  uint half_[2];
  uint2 pair;
} Parts;
kernel void keeps_half_an_address(global int* a, global int* b, global uint* o, int n) {
  Parts parts[4];
  for (int k = 0; k < n; ++k)
    parts[k & 3].p = k & 1 ? a : b;
  o[get_global_id(0)] = parts[n & 3].half_[0];
}
// CHECK-LABEL: kernel keeps_both_halves(
// CHECK: can't be split: takes what may be part of the address of
kernel void keeps_both_halves(global int* a, global int* b, global uint2* o, int n) {
  Parts parts[4];
  for (int k = 0; k < n; ++k)
    parts[k & 3].p = k & 1 ? a : b;
  o[get_global_id(0)] = parts[n & 3].pair;
}
// CHECK-LABEL: kernel keeps_bytes_of_addresses(
// CHECK: can't be split: takes what may be part of the address of
kernel void keeps_bytes_of_addresses(global int* a, global int* b, global uchar* o, int n) {
  global int* rows[4];
  for (int k = 0; k < n; ++k)
    rows[k & 3] = k & 1 ? a : b;
  o[get_global_id(0)] = ((private uchar*)rows)[n & 31];
}
// CHECK-LABEL: kernel loads_addresses_as_a_vector(
// CHECK: can't be split: takes what may be part of the address of
kernel void loads_addresses_as_a_vector(global int* a, global int* b, global uint2* o, int n) {
  global int* rows[4];
  for (int k = 0; k < n; ++k)
    rows[k & 3] = k & 1 ? a : b;
  o[get_global_id(0)] = vload2(n & 3, (private uint*)rows);
}
// CHECK-LABEL: kernel keeps_a_copied_struct(
// CHECK: can't be split: stores the address of
kernel void keeps_a_copied_struct(global int* a, global int* b, global Row* o, int n) {
  Row rows[4], others[4];
  for (int k = 0; k < n; ++k) {
    rows[k & 3].p = k & 1 ? a : b;
    rows[k & 3].n = k;
  }
  others[n & 3] = rows[(n + 1) & 3];
  others[(n + 1) & 3] = rows[(n + 2) & 3];
  o[get_global_id(0)] = others[n & 1];
}
// CHECK-LABEL: kernel compares_with_what_it_made(
// CHECK: can't be split: stores the address of
kernel void compares_with_what_it_made(global int* a, global int* o) {
  o[get_global_id(0)] = (global int*)((ulong)a & ~31ul) == a;
}
// CHECK-LABEL: kernel aligns_down(
// CHECK: can't be split: what it does depends on the address of `a`
kernel void aligns_down(global char* a, global int* o) {
  o[get_global_id(0)] = a - (global char*)__builtin_align_down(a, 32);
}
// CHECK-LABEL: kernel loads_two_halves(
// CHECK: can't be split: takes what may be part of the address of
kernel void loads_two_halves(global int* a, global int* b, global int* o, int n) {
  Row rows[4];
  for (int k = 0; k < n; ++k) {
    rows[k & 3].p = k & 1 ? a : b;
    rows[k & 3].n = k;
  }
  global int* p = *(global int* private*)((private uint*)&rows[n & 3] + 1);
  o[get_global_id(0)] = p == 0;
}
// CHECK-LABEL: kernel keeps_it_in_an_argument(
// CHECK: can't be split: takes what may be part of the address of `a`
typedef struct {
  ulong v[4];
} Numbers;
kernel void keeps_it_in_an_argument(global int* a, Numbers s, global uint* o, int n) {
  ((global int* private*)&s)[n & 3] = a;
  o[get_global_id(0)] = ((private uint*)&s)[n & 7];
}
// CHECK-LABEL: kernel copies_any_of_an_array(
// CHECK: can't be split: takes what may be part of the address of `a`
typedef struct {
  global int* q;
} One;
kernel void copies_any_of_an_array(global int* a, global uint* o, int n, int m) {
  global int* rows[4];
  rows[3] = a;
  rows[0] = 0;
  One others[4];
  others[n & 3] = *(private One*)&rows[m & 3];
  o[get_global_id(0)] = ((private uint*)others)[n & 7];
}
// CHECK-LABEL: kernel takes_a_number_from_beside_an_address(
// CHECK-NOT: can't be split
kernel void takes_a_number_from_beside_an_address(global int* a, global int* b, global int* o,
                                                  int n) {
  Row rows[4];
  for (int k = 0; k < n; ++k) {
    rows[k & 3].p = k & 1 ? a : b;
    rows[k & 3].n = k;
  }
  o[get_global_id(0)] = rows[n & 3].p ? rows[(n + 1) & 3].n : 0;
}
// CHECK-LABEL: kernel takes_numbers_from_behind_an_address(
// CHECK-NOT: can't be split
typedef struct {
  global int* p;
  int shape[4];
} Tensor;
typedef struct {
  Row row;
  int shape[4];
} Holder;
kernel void takes_numbers_from_behind_an_address(global int* a, global int* b, global int* o,
                                                 int n) {
  Tensor tensors[4];
  Row rows[4];
  for (int k = 0; k < n; ++k) {
    tensors[k & 3].p = k & 1 ? a : b;
    rows[k & 3].p = k & 1 ? a : b;
    for (int d = 0; d < 4; ++d)
      tensors[k & 3].shape[(d + k) & 3] = d + k;
    rows[k & 3].n = k;
  }
  Holder holder;
  holder.row = rows[n & 3];
  for (int d = 0; d < 4; ++d)
    holder.shape[(d + n) & 3] = d;
  const int i = get_global_id(0);
  o[i] = tensors[n & 3].p ? tensors[(n + 1) & 3].shape[(n >> 2) & 3] : 0;
  o[i] += holder.row.p ? holder.shape[n & 3] : holder.row.n;
}
// CHECK-LABEL: kernel asks_whether_it_is_there(
// CHECK-NOT: can't be split
kernel void asks_whether_it_is_there(global const int* a, global int* o) {
  const int i = get_global_id(0);
  o[i] = a && a != o && 0 != (ulong)a ? a[i] : i;
}
// CHECK-LABEL: kernel keeps_distance(
// CHECK-NOT: can't be split
kernel void keeps_distance(global const char* text, global int* lengths, int most) {
  global const char* begin = text + most * get_global_id(0);
  global const char* end = begin;
  while (end < begin + most && *end)
    ++end;
  lengths[get_global_id(0)] = (int)(end - begin);
}
// CHECK-LABEL: kernel keeps_distances(
// CHECK-NOT: can't be split
kernel void keeps_distances(global const char* text, global int* sums, int most) {
  global const char* begin = text + most * get_global_id(0);
  global const char *a = begin, *b = begin;
  while (a < begin + most && *a)
    ++a;
  while (b < a && *b != ' ')
    ++b;
  sums[get_global_id(0)] = *begin == '-' ? (int)(a - begin) : (int)(b - begin) + (int)(a - begin);
}
