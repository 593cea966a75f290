// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel below(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 < n{{$}}
kernel void below(global int* a, int n) {
  int i = get_global_id(0);
  if (i < n) a[i] = 0;
}

// CHECK-LABEL: kernel early_return(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 < n{{$}}
kernel void early_return(global int* a, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  a[i] = 0;
}

// CHECK-LABEL: kernel two_returns(
// CHECK-NEXT: writes a at 4*(G1*w + G0), 4 bytes, if G0 < w and G1 < h{{$}}
kernel void two_returns(global int* a, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w) return;
  if (y >= h) return;
  a[y * w + x] = 0;
}

// CHECK-LABEL: kernel interior(
// CHECK-NEXT: writes a at 4*(G1*w + G0), 4 bytes, if 0 < G0 and G0 < w - 1 and 0 < G1 and G1 < h - 1{{$}}
kernel void interior(global int* a, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && x < w - 1 && y > 0 && y < h - 1) a[y * w + x] = 0;
}

// An alternative is an access of its own.
// CHECK-LABEL: kernel border(
// CHECK-NEXT: writes a at 4*(G1*w + G0), 4 bytes, if G0 == 0{{$}}
// CHECK-NEXT: writes a at 4*(G1*w + G0), 4 bytes, if G1 == 0{{$}}
kernel void border(global int* a, int w) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0) a[y * w + x] = 0;
}

// CHECK-LABEL: kernel negated(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if 3 <= G0 and 5 <= G1{{$}}
kernel void negated(global int* a) {
  int x = get_global_id(0), y = get_global_id(1);
  if (!(x < 3 || y < 5)) a[x] = 0;
}

// CHECK-LABEL: kernel both_arms(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 < 8{{$}}
// CHECK-NEXT: writes b at 4*G0, 4 bytes, if 8 <= G0{{$}}
kernel void both_arms(global int* a, global int* b) {
  int x = get_global_id(0);
  if (x < 8) a[x] = 0; else b[x] = 0;
}

// CHECK-LABEL: kernel not_equal(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 != k{{$}}
kernel void not_equal(global int* a, int k) {
  int x = get_global_id(0);
  if (x != k) a[x] = 0;
}

// A two-sided test against constants, in whatever form the compiler brings it.
// CHECK-LABEL: kernel window(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if {{.*}}63{{.*$}}
kernel void window(global int* a) {
  int x = get_global_id(0);
  if (x >= 1 && x < 63) a[x] = 0;
}

// CHECK-LABEL: kernel stored_condition(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 < n{{$}}
kernel void stored_condition(global int* a, int n) {
  int x = get_global_id(0);
  int inside = x < n;
  if (inside) a[x] = 0;
}

// CHECK-LABEL: kernel uniform_switch(
// CHECK-DAG: writes a at 4*G0, 4 bytes, if mode == 1{{$}}
// CHECK-DAG: writes a at 4*(G0 + 5), 4 bytes, if mode == 2{{$}}
// CHECK-DAG: writes a at 4*(G0 + 9), 4 bytes, if mode != 1 and mode != 2{{$}}
kernel void uniform_switch(global int* a, int mode) {
  int x = get_global_id(0);
  switch (mode) {
  case 1: a[x] = 0; break;
  case 2: a[x + 5] = 0; break;
  default: a[x + 9] = 0;
  }
}

// What data decides is never certain, and no guard.
// CHECK-LABEL: kernel data_decides(
// CHECK-NEXT: reads mask at 4*G0, 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes, if G0 < n{{$}}
kernel void data_decides(global int* a, global const int* mask, int n) {
  int x = get_global_id(0);
  if (x < n && mask[x]) a[x] = 0;
}

// A return in one arm above: the write below is reached by some and missed by others.
// CHECK-LABEL: kernel return_in_arm(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 < 5 and n <= 3{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 100), 4 bytes, if G0 < 5 and n <= 3{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 100), 4 bytes, if 5 <= G0{{$}}
// oracle: exact
kernel void return_in_arm(global int* a, int n) {
  int i = get_global_id(0);
  if (i < 5) {
    if (n > 3) return;
    a[i] = 1;
  }
  a[i + 100] = 2;
}

// Floating-point conditions are data too.
// CHECK-LABEL: kernel float_condition(
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
kernel void float_condition(global int* a, float limit) {
  int i = get_global_id(0);
  if (i * 0.5f < limit) a[i] = 1;
}
