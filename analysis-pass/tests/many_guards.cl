// A launch looks at so many guards and no more: those that are left out only make the bytes more,
// and none of them certain.
// RUN: %splitc --emit=accesses %s | %FileCheck %s
// RUN: %splitc %s --argument n=7 | %FileCheck --check-prefix=REPORT %s

// CHECK-LABEL: kernel leaves_early(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 != n and {{.*}} and G0 != n + 127{{$}}
// CHECK-NEXT: may write b at 4*G0, 4 bytes, if G0 != n and {{.*}} and G0 != n + 127{{$}}
// CHECK-NEXT: may write c at 4*G0, 4 bytes, if G0 != n and {{.*}} and G0 != n + 127{{$}}
// REPORT: not rung 1: {{.*}} too many conditions at a time
#define STEP(k) \
  if (i == n + k) \
    return;
#define FOUR(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3)
#define SIXTEEN(k) FOUR(k) FOUR(k + 4) FOUR(k + 8) FOUR(k + 12)
#define MANY(k) SIXTEEN(k) SIXTEEN(k + 16) SIXTEEN(k + 32) SIXTEEN(k + 48)
kernel void leaves_early(global int* a, global int* b, global int* c, int n) {
  int i = get_global_id(0);
  MANY(0) MANY(64)
  a[i] = 1;
  STEP(128)
  b[i] = 2;
  MANY(129)
  c[i] = 3;
}
