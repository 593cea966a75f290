// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel product(
// CHECK-NEXT: reads a at 4*(G1*n + k0), 4 bytes, k0 < max(n, 0){{$}}
// CHECK-NEXT: reads b at 4*(k0*n + G0), 4 bytes, k0 < max(n, 0){{$}}
// CHECK-NEXT: writes c at 4*(G1*n + G0), 4 bytes{{$}}
kernel void product(global float* c, global const float* a, global const float* b, int n) {
  int i = get_global_id(1), j = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

// CHECK-LABEL: kernel strided(
// CHECK-NEXT: writes a at 4*(4*k0 + 1000), 4 bytes, k0 < max(floordiv(n + 3, 4), 0){{$}}
kernel void strided(global int* a, int n) {
  for (int s = 0; s < n; s += 4) a[s + 1000] = 0;
}

// CHECK-LABEL: kernel downwards(
// CHECK-NEXT: writes a at 4*(n - 1*k0 - 1), 4 bytes, k0 < max(n, 0){{$}}
kernel void downwards(global int* a, int n) {
  for (int j = n - 1; j >= 0; --j) a[j] = 0;
}

// CHECK-LABEL: kernel triangle(
// CHECK-NEXT: writes a at 4*(G0*n + k0), 4 bytes, k0 < max(G0 + 1, 0){{$}}
kernel void triangle(global int* a, int n) {
  int i = get_global_id(0);
  for (int j = 0; j <= i; ++j) a[i * n + j] = 0;
}

// CHECK-LABEL: kernel upper_triangle(
// CHECK-NEXT: writes a at 4*(G0*n + G0 + k0), 4 bytes, k0 < max(n - 1*G0, 0){{$}}
kernel void upper_triangle(global int* a, int n) {
  int i = get_global_id(0);
  for (int j = i; j < n; ++j) a[i * n + j] = 0;
}

// CHECK-LABEL: kernel grid_stride(
// CHECK-NEXT: needs the partition argument
// CHECK-NEXT: writes a at {{.*}}globalSize0{{.*}}k0{{.*}}, 4 bytes, k0 < {{.*$}}
kernel void grid_stride(global int* a, uint n) {
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) a[i] = 0;
}

// CHECK-LABEL: kernel nested(
// CHECK-NEXT: writes a at 4*(5*k0 + k1), 4 bytes, k0 < 3, k1 < max(k0, 0){{$}}
kernel void nested(global int* a) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j) a[i * 5 + j] = 0;
}

// A running index over two loops.
// CHECK-LABEL: kernel running(
// CHECK-NEXT: writes a at {{.*}}, 4 bytes, k0 < max(n, 0), k1 < 4{{$}}
kernel void running(global int* a, int n) {
  int k = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 4; ++j) a[k++] = 0;
}

// CHECK-LABEL: kernel at_least_once(
// CHECK-NEXT: writes a at 4*k0, 4 bytes, k0 < max(n - 1, 0) + 1{{$}}
kernel void at_least_once(global int* a, int n) {
  int t = 0;
  do a[t++] = 1; while (t < n);
}

// A loop whose variable doesn't matter leaves no trace if it runs for sure.
// CHECK-LABEL: kernel same_place(
// CHECK-NEXT: reads a at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
kernel void same_place(global float* a) {
  int i = get_global_id(0), n = 0;
  do { a[i] *= 2; } while (a[i] < 100);
}

// An early exit by data: at most so often.
// CHECK-LABEL: kernel leaves_early(
// CHECK-NEXT: reads f at 4*k0, 4 bytes, k0 < at most max(n, 0){{$}}
// CHECK-NEXT: may write a at 4*(G0*n + k0), 4 bytes, k0 < at most max(n, 0){{$}}
// CHECK-NEXT: writes a at 28, 4 bytes{{$}}
kernel void leaves_early(global int* a, global const int* f, int n) {
  int i = get_global_id(0);
  for (int j = 0; j < n; j++) {
    if (f[j] == 0) break;
    a[i * n + j] = j;
  }
  a[7] = 3;
}

// Two counted exits: the smaller count.
// CHECK-LABEL: kernel two_exits(
// CHECK-NEXT: writes a at 4*k0, 4 bytes, k0 < min({{.*}}m{{.*}}){{$}}
kernel void two_exits(global int* a, int n, int m) {
  for (int j = 0; j < n; j++) {
    if (j == m) break;
    a[j] = j;
  }
}

// CHECK-LABEL: kernel skips(
// CHECK-NEXT: writes a at 4*k0, 4 bytes, k0 < max(n, 0), if k0 != G0{{$}}
kernel void skips(global int* a, int n) {
  int i = get_global_id(0);
  for (int k = 0; k < n; k++) {
    if (k == i) continue;
    a[k] = 2;
  }
}

// A return out of a loop: what comes after is not certain.
// CHECK-LABEL: kernel returns_from_loop(
// CHECK-NEXT: reads f at 4*k0, 4 bytes, k0 < at most max(n, 0){{$}}
// CHECK-NEXT: may write a at 4*G0, 4 bytes{{$}}
kernel void returns_from_loop(global int* a, global const int* f, int n) {
  for (int j = 0; j < n; j++)
    if (f[j]) return;
  a[get_global_id(0)] = 1;
}

// CHECK-LABEL: kernel halving(
// CHECK-NEXT: may write a anywhere: {{.*}} (line [[#@LINE+2]]){{$}}
kernel void halving(global int* a, int n) {
  for (int s = n; s > 0; s >>= 1)
    a[s] = 0;
}

// CHECK-LABEL: kernel loaded_count(
// CHECK-NEXT: reads n at 0, 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*k0, 4 bytes, k0 < max(n[0], 0), by `n` at launch{{$}}
kernel void loaded_count(global int* a, global const int* n) {
  int end = *n;
  for (int s = 0; s < end; ++s) a[s] = 0;
}

// CHECK-LABEL: kernel after_loop(
// CHECK-NEXT: writes a at 4*G0*n + 4*k0, 4 bytes, k0 < max(n, 0){{$}}
// CHECK-NEXT: writes a at 4*max(n, 0) + 4*n*G0, 4 bytes{{$}}
kernel void after_loop(global float* a, int n) {
  global float* p = a + get_global_id(0) * n;
  for (int i = 0; i < n; i++) *p++ = i;
  *p = 3;
}

// The second exit moves away from its bound: it is taken in the first iteration or never.
// CHECK-LABEL: kernel away(
// CHECK-NEXT: may write a at 4*(G0 + k0), 4 bytes, k0 < at most max(n, 0)
kernel void away(global int* a, int n, int m) {
  for (int i = 0; i < n; ++i) {
    a[get_global_id(0) + i] = 0;
    if (2 * i < m) return;
  }
}

// A step that may be 0 or less leaves the count to the other exit.
// CHECK-LABEL: kernel any_step(
// CHECK-NEXT: writes a at 4*(G0 + k0), 4 bytes, k0 < min(max(n, 0), max(floordiv(m + max(s, 0) - 1, max(s, 0)), 0) + 1)
kernel void any_step(global int* a, int n, int m, int s) {
  for (int i = 0, j = 0; i < n; ++i, j += s) {
    a[get_global_id(0) + i] = 0;
    if (j >= m) return;
  }
}

// Loops that end when their variable wraps around.

// CHECK-LABEL: kernel until_it_wraps(
// CHECK-NEXT: writes a at 4*(8*G0 - 1*k0 + 7), 4 bytes, k0 < 8{{$}}
kernel void until_it_wraps(global uint* a) {
  for (uint k = 7; k < 8; --k) a[get_global_id(0) * 8 + k] = k;
}

// CHECK-LABEL: kernel until_a_short_wraps(
// CHECK-NEXT: may write a anywhere: loop without a known count
kernel void until_a_short_wraps(global uint* a, short first) {
  for (short k = first; k > 0; ++k) a[k & 7] = k;
}

// CHECK-LABEL: kernel by_a_step_that_may_be_negative(
// CHECK-NEXT: writes a at {{.*}}k0 < max(floordiv({{.*}}max({{.*}}step{{.*}}, 0)
kernel void by_a_step_that_may_be_negative(global uint* a, short first, short step) {
  for (short k = first; k < 7; k += step) a[k & 7] = k;
}
