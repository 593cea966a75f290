// The summary says where n-bit numbers are looked at, so that the launch can prove that they fit.
// RUN: %splitc %s --emit=summary | %FileCheck %s
// RUN: %splitc %s --emit=accesses | %FileCheck --check-prefix=NOTATION %s

// A sum of 32 bits, then sign-extended: wrapped once, as a whole.
// CHECK-LABEL: (kernel "signed_index"
// CHECK: (wrap s 64 (mul (wrap s 32 (add (mul G0 (arg 1 s 32 0)) 5)) 4))
kernel void signed_index(global int* a, int w) {
  int i = get_global_id(0);
  a[i * w + 5] = 0;
}

// CHECK-LABEL: (kernel "unsigned_index"
// CHECK: (wrap s 64 (mul (wrap u 32 (add G0 (arg 1 s 32 0) -1)) 4))
kernel void unsigned_index(global int* a, uint k) {
  uint i = get_global_id(0);
  a[i - 1 + k] = 0;
}

// The 64-bit index of a 32-bit product: the product wraps first.
// CHECK-LABEL: (kernel "wide_sum_of_narrow"
// CHECK: (wrap s 64 (mul (add (mul (wrap u 32 G0) (arg 1 u 32 0)) (arg 2 s 64 0)) 4))
kernel void wide_sum_of_narrow(global int* a, uint w, ulong base) {
  uint i = get_global_id(0);
  a[(ulong)i * w + base] = 0;
}

// A comparison of unsigned numbers does not see negative ones.
// CHECK-LABEL: (kernel "unsigned_guard"
// CHECK: (less (wrap u 32 (add G0 -1)) (arg 1 u 32 0))
kernel void unsigned_guard(global int* a, uint n) {
  uint i = get_global_id(0);
  if (i - 1 < n) a[i] = 0;
}

// Narrow casts are remainders: no proof needed.
// CHECK-LABEL: (kernel "byte_index"
// CHECK: (mul (and {{.*}} 255) 4)
kernel void byte_index(global int* a) { a[(uchar)get_global_id(0)] = 0; }

// CHECK-LABEL: (kernel "signed_char"
// CHECK: (wrap s 8 G0)
kernel void signed_char(global int* a) { a[(char)get_global_id(0) + 128] = 0; }

// What optimised IR has for a narrow number's extension: shifted up and back.
// NOTATION-LABEL: kernel shifted_back(
// NOTATION-NEXT: line {{[0-9]+}}: writes a at 4*(G0 + n), 4 bytes{{$}}
// NOTATION-NEXT: line {{[0-9]+}}: writes b at 4*(G0 + 5), 4 bytes{{$}}
// NOTATION-NEXT: line {{[0-9]+}}: writes c at 4*floordiv(2147483648*G0, 4294967296), 4 bytes
kernel void shifted_back(global int* a, global int* b, global int* c, int n) {
  long i = get_global_id(0);
  a[((i + n) << 32) >> 32] = 1;
  b[((i << 40) + (5L << 40)) >> 40] = 1;
  c[(i << 31) >> 32] = 1;
}
