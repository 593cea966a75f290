// The analysis in opt gives what it gives in splitc.
// RUN: %clang -target spir64 -x cl -cl-std=CL1.2 -cl-kernel-arg-info -O1 -Xclang -disable-llvm-passes -gline-tables-only -emit-llvm -c %s -o %t.bc
// RUN: %opt -load-pass-plugin=%plugin -passes='libsplit-prepare,print<libsplit-access>' -disable-output %t.bc 2>%t.err | %FileCheck %s

// CHECK: kernel scale(float* out, float* in, int n)
// CHECK-NEXT: line [[#@LINE+5]]: reads in at 4*G0, 4 bytes, if G0 < n
// CHECK-NEXT: line [[#@LINE+4]]: writes out at 4*G0, 4 bytes, if G0 < n
kernel void scale(global float* out, global const float* in, int n) {
  int i = get_global_id(0);
  if (i < n)
    out[i] = 2 * in[i];
}
