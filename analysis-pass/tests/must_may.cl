// A write is certain only if every work-item of the range executes it. What `oracle:` says is
// checked on real runs; that certain writes really happen is checked everywhere.
// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel always(
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void always(global int* a) { a[get_global_id(0)] = 1; }

// Guards over ids and arguments say exactly when.
// CHECK-LABEL: kernel guarded(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 < n{{$}}
// oracle: exact
kernel void guarded(global int* a, int n) {
  int i = get_global_id(0);
  if (i < n) a[i] = 1;
}

// Data decides.
// CHECK-LABEL: kernel by_mask(
// CHECK-NEXT: reads mask at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
// oracle: reads exact
kernel void by_mask(global int* a, global const int* mask) {
  int i = get_global_id(0);
  if (mask[i]) a[i] = 1;
}

// Both ways write the same bytes: still one write for each, neither certain.
// CHECK-LABEL: kernel both_ways(
// CHECK-NEXT: reads mask at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: reads a at 4*(G0 + 100), 4 bytes{{$}}
// oracle: inexact
kernel void both_ways(global int* a, global const int* mask) {
  int i = get_global_id(0);
  if (mask[i]) a[i] = 1; else a[i] = 2 + a[i + 100];
}

// What the element was before decides.
// CHECK-LABEL: kernel relax(
// CHECK-NEXT: reads b at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: reads a at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
// oracle: inexact
kernel void relax(global int* a, global const int* b) {
  int i = get_global_id(0);
  if (b[i] < a[i]) a[i] = b[i];
}

// CHECK-LABEL: kernel by_float(
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
// oracle: inexact
kernel void by_float(global int* a, float limit) {
  int i = get_global_id(0);
  if (i * 0.5f < limit) a[i] = 1;
}

// Data among the guards, behind && and ||, behind !.
// CHECK-LABEL: kernel among_guards(
// CHECK-NEXT: reads mask at 4*G0, 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes, if G0 < n and G0 != 7{{$}}
// oracle: inexact
kernel void among_guards(global int* a, global const int* mask, int n) {
  int i = get_global_id(0);
  if (i < n && !(mask[i] == 3 || i == 7)) a[i] = 1;
}

// Whoever has returned writes nothing any more.
// CHECK-LABEL: kernel returns(
// CHECK-NEXT: reads mask at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
// oracle: inexact
kernel void returns(global int* a, global const int* mask) {
  int i = get_global_id(0);
  if (mask[i] > 2) return;
  a[i] = 1;
}

// CHECK-LABEL: kernel leaves_loop(
// CHECK-NEXT: reads stop at 4*k0, 4 bytes, k0 < at most max(n, 0){{$}}
// CHECK-NEXT: may write a at 4*(120*G0 + k0), 4 bytes, k0 < at most max(n, 0){{$}}
// CHECK-NEXT: writes a at 4*(120*G0 + 119), 4 bytes{{$}}
// oracle: inexact
kernel void leaves_loop(global int* a, global const int* stop, int n) {
  int i = get_global_id(0);
  for (int k = 0; k < n; ++k) {
    if (stop[k]) break;
    a[120 * i + k] = 1;
  }
  a[120 * i + 119] = 2;
}

// CHECK-LABEL: kernel skips(
// CHECK-NEXT: reads skip at 4*k0, 4 bytes, k0 < max(n, 0){{$}}
// CHECK-NEXT: may write a at 4*(120*G0 + k0), 4 bytes, k0 < max(n, 0){{$}}
// oracle: inexact
kernel void skips(global int* a, global const int* skip, int n) {
  int i = get_global_id(0);
  for (int k = 0; k < n; ++k) {
    if (skip[k]) continue;
    a[120 * i + k] = 1;
  }
}

// The count comes from data that the kernel writes: at most, and anywhere.
// CHECK-LABEL: kernel counts_down(
// CHECK-NEXT: reads left at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a anywhere: loop without a known count{{$}}
// CHECK-NEXT: may write left at 4*G0, 4 bytes{{$}}
// oracle: inexact
kernel void counts_down(global int* a, global int* left) {
  int i = get_global_id(0);
  for (int k = 0; k < left[i]; ++k) { a[64 * i + k] = 1; left[i] -= 1; }
}

// A place that data chooses is a certain write to none.
// CHECK-LABEL: kernel chosen(
// CHECK-NEXT: reads mask at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write b at 4*G0, 4 bytes{{$}}
// oracle: inexact
kernel void chosen(global int* a, global int* b, global const int* mask) {
  int i = get_global_id(0);
  global int* p = mask[i] ? a : b;
  p[i] = 1;
}

// CHECK-LABEL: kernel chosen_place(
// CHECK-NEXT: reads mask at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(mask[G0] < 0 ? 2*G0 : (0 < mask[G0] ? 2*G0 : 2*G0 + 1)), 4 bytes, by `mask` at launch{{$}}
// oracle: inexact
kernel void chosen_place(global int* a, global const int* mask) {
  int i = get_global_id(0);
  a[mask[i] ? 2 * i : 2 * i + 1] = 1;
}

// One work-item of each group.
// CHECK-LABEL: kernel first_of_group(
// CHECK-NEXT: depends on work-groups{{$}}
// CHECK-NEXT: needs the partition argument{{$}}
// CHECK-NEXT: writes a at 4*W0, 4 bytes, if L0 == 0{{$}}
// oracle: exact
kernel void first_of_group(global int* a) {
  if (get_local_id(0) == 0) a[get_group_id(0)] = 1;
}

// Local memory is data.
// CHECK-LABEL: kernel by_local(
// CHECK-NEXT: depends on work-groups{{$}}
// CHECK-NEXT: needs the partition argument{{$}}
// CHECK-NEXT: reads b at 4*W0, 4 bytes, if L0 == 0{{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
// oracle: inexact
kernel void by_local(global int* a, global const int* b) {
  local int any;
  if (get_local_id(0) == 0) any = b[get_group_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (any > 1) a[get_global_id(0)] = 1;
}

// A switch over an argument is as good as an if; over data it is not.
// CHECK-LABEL: kernel modes(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if mode == 1{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 100), 4 bytes, if mode == 7{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 100), 4 bytes, if mode == 1{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 200), 4 bytes, if mode != 1 and mode != 7{{$}}
// oracle: exact
kernel void modes(global int* a, int mode) {
  int i = get_global_id(0);
  switch (mode) {
  case 1: a[i] = 1;
  case 7: a[i + 100] = 2; break;
  default: a[i + 200] = 3;
  }
}

// CHECK-LABEL: kernel data_modes(
// CHECK-NEXT: reads mode at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*(G0 + 100), 4 bytes{{$}}
// oracle: inexact
kernel void data_modes(global int* a, global const int* mode) {
  int i = get_global_id(0);
  switch (mode[i]) {
  case 1: a[i] = 1; break;
  case 2: a[i + 100] = 2; break;
  }
}

// A struct's padding is nobody's.
typedef struct { char c; int i; } Padded;
// CHECK-LABEL: kernel whole_struct(
// CHECK-NEXT: may write a at 8*G0, 8 bytes{{$}}
// CHECK-NEXT: reads b at 8*(G0 + 1), 8 bytes{{$}}
// oracle: inexact
kernel void whole_struct(global Padded* a, global const Padded* b) {
  int i = get_global_id(0);
  a[i] = b[i + 1];
}
