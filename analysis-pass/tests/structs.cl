// RUN: %splitc --emit=accesses %s | %FileCheck %s

typedef struct { float x, y, z, w; } Body;
typedef struct { char c; double d; } Padded;

// CHECK-LABEL: kernel member(
// CHECK-NEXT: reads in at 16*G0 + 4, 4 bytes{{$}}
// CHECK-NEXT: writes out at 16*G0 + 8, 4 bytes{{$}}
kernel void member(global Body* out, global const Body* in) {
  int i = get_global_id(0);
  out[i].z = in[i].y;
}

// An assignment of structs may leave out the padding: not certain.
// CHECK-LABEL: kernel assignment(
// CHECK-DAG: reads in at 16*G0, 16 bytes{{$}}
// CHECK-DAG: may write out at 16*G0, 16 bytes{{$}}
kernel void assignment(global Padded* out, global const Padded* in) {
  int i = get_global_id(0);
  out[i] = in[i];
}

// CHECK-LABEL: kernel through_private(
// CHECK-DAG: reads in at 16*G0, {{[0-9]+}} bytes{{$}}
// CHECK-DAG: writes out at 4*G0, 4 bytes{{$}}
kernel void through_private(global float* out, global const Body* in) {
  int i = get_global_id(0);
  Body b = in[i];
  out[i] = b.x + b.w;
}
