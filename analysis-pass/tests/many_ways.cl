// Many ways lead from one place to another, but what is found there is found once: each of these
// would take hours if it were looked for anew on every way.
// RUN: %splitc --emit=accesses %s | %FileCheck %s

// Both arms store the vector, again and again: what they store back is a question to all the stores
// before.
// CHECK-LABEL: kernel stores_in_both_arms(
// CHECK: may write p at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: may store back p at 16*G0 + 4, 12 bytes{{$}}
#define STEP(k) \
  if (d[k * n + i] > k) { \
    v.x += k; \
    p[i] = v; \
  } else { \
    v.x -= 3; \
    p[i] = v; \
  }
kernel void stores_in_both_arms(global float4* p, global const int* d, int n) {
  int i = get_global_id(0);
  float4 v = p[i];
  STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8)
  STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15) STEP(16) STEP(17)
}
#undef STEP

// Conditions that two others are made of, and these of two others.
// CHECK-LABEL: kernel conditions_of_conditions(
// CHECK-NEXT: may write a at 4*G0, 4 bytes, if G0 != n + 25 and G0 != n + 26 and G0 != n + 27{{$}}
#define STEP(k) \
  { \
    bool both = (p && i != n + k) || (q && i < k * n); \
    q = (q && i != k - n) || (p && i > k * n); \
    p = both; \
  }
kernel void conditions_of_conditions(global int* a, int n) {
  int i = get_global_id(0);
  bool p = i < n, q = i > 2 * n;
  STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9)
  STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15) STEP(16) STEP(17) STEP(18)
  STEP(19) STEP(20) STEP(21) STEP(22) STEP(23) STEP(24) STEP(25) STEP(26) STEP(27)
  if (p) a[i] = 1;
  if (q) a[i + 1] = 2;
}
#undef STEP

// Each of these says all that the two before it say: the same guards, twice as many every time.
// CHECK-LABEL: kernel repeated_guards(
// CHECK-NEXT: may write a at 4*G0, 4 bytes, if -1*n < G0 and G0 != n and G0 < n and
#define STEP(k) \
  { \
    bool one = p && q; \
    p = q && i != k * k * n; \
    q = one; \
  }
kernel void repeated_guards(global int* a, int n) {
  int i = get_global_id(0);
  bool p = i < n, q = i > -n;
  STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9)
  STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15) STEP(16) STEP(17) STEP(18)
  STEP(19) STEP(20) STEP(21) STEP(22) STEP(23) STEP(24) STEP(25) STEP(26) STEP(27)
  STEP(28) STEP(29) STEP(30) STEP(31) STEP(32) STEP(33) STEP(34) STEP(35) STEP(36)
  STEP(37) STEP(38) STEP(39) STEP(40) STEP(41) STEP(42) STEP(43) STEP(44) STEP(45)
  if (p)
    a[i] = 1;
}
#undef STEP

// Three ways on from each of three places, and to each of the next three.
// CHECK-LABEL: kernel jumps(
// CHECK-NEXT: writes a at 4*(G0 + 1), 4 bytes, if n == 1{{$}}
// CHECK: may write a at 4*(G0 + 19), 4 bytes, if G0 != n + 18 and G0 != n - 18{{$}}
#define STEP(k, next) \
  one##k: \
  a[i + k] = 1; \
  if (i == n + k) \
    goto one##next; \
  if (i == n - k) \
    goto two##next; \
  goto three##next; \
  two##k: \
  a[i + k] = 2; \
  if (i == n + 2 * k) \
    goto one##next; \
  if (i == n - 2 * k) \
    goto two##next; \
  goto three##next; \
  three##k: \
  a[i + k] = 3; \
  if (i == n + 3 * k) \
    goto one##next; \
  if (i == n - 3 * k) \
    goto two##next; \
  goto three##next;
kernel void jumps(global int* a, int n) {
  int i = get_global_id(0);
  if (n == 1)
    goto one1;
  if (n == 2)
    goto two1;
  if (n == 3)
    goto three1;
  return;
  STEP(1, 2) STEP(2, 3) STEP(3, 4) STEP(4, 5) STEP(5, 6) STEP(6, 7) STEP(7, 8) STEP(8, 9)
  STEP(9, 10) STEP(10, 11) STEP(11, 12) STEP(12, 13) STEP(13, 14) STEP(14, 15) STEP(15, 16)
  STEP(16, 17) STEP(17, 18) STEP(18, 19)
one19:
  a[i + 19] = 1;
  return;
two19:
  a[i + 19] = 2;
  return;
three19:
  a[i + 19] = 3;
}
#undef STEP

// Each pointer is one of the two before it: they point to as many places as there are ways to choose.
// CHECK-LABEL: kernel chosen_pointers(
// CHECK: may write a anywhere: pointer chosen among too many
// CHECK: may write b anywhere: pointer chosen among too many
#define STEP(k) \
  { \
    global int* one = (i & (1 << k)) ? p : q; \
    q = i > n + k ? q : p; \
    p = one; \
  }
kernel void chosen_pointers(global int* a, global int* b, int n) {
  int i = get_global_id(0);
  global int *p = a, *q = b;
  STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9)
  STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15) STEP(16) STEP(17) STEP(18)
  STEP(19) STEP(20) STEP(21) STEP(22) STEP(23) STEP(24)
  p[i] = 1;
}
#undef STEP
