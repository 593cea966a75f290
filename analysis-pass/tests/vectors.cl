// RUN: %splitc --emit=accesses %s | %FileCheck %s

// CHECK-LABEL: kernel four(
// CHECK-NEXT: reads in at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: writes out at 16*G0, 16 bytes{{$}}
kernel void four(global float4* out, global const float4* in) {
  int i = get_global_id(0);
  out[i] = in[i];
}

// A vector of three: twelve bytes for sure, the padding perhaps.
// CHECK-LABEL: kernel three(
// CHECK-NEXT: reads in at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: writes out at 16*G0, 12 bytes{{$}}
// CHECK-NEXT: may write out at 16*G0 + 12, 4 bytes{{$}}
kernel void three(global float3* out, global const float3* in) {
  int i = get_global_id(0);
  out[i] = in[i];
}

// CHECK-LABEL: kernel loads_and_stores(
// CHECK-NEXT: reads in at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: writes out at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: reads in at 12*G0 + 4, 12 bytes{{$}}
// CHECK-NEXT: writes out at 12*G0 + 4, 12 bytes{{$}}
// CHECK-NEXT: reads half_in at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: writes half_out at 2*G0, 2 bytes{{$}}
// CHECK-NEXT: reads half_in at 8*G0, 6 bytes{{$}}
// CHECK-NEXT: reads half_in at 8*G0 + 6, 2 bytes{{$}}
// CHECK-NEXT: writes half_out at 6*G0, 6 bytes{{$}}
kernel void loads_and_stores(global float* out, global const float* in, global half* half_out,
                             global const half* half_in) {
  size_t i = get_global_id(0);
  vstore4(vload4(i, in), i, out);
  vstore3(vload3(i, in + 1), i, out + 1);
  float8 f = vload_half8(i, half_in);
  vstore_half(f.s0, i, half_out);
  float3 g = vloada_half3(i, half_in);
  vstore_half3_rte(g, i, half_out);
}

// Whether the padding of three halves in the room of four is touched is the driver's affair.
// CHECK-LABEL: kernel padded_halves(
// CHECK-NEXT: reads in at 8*(G0 + 1), 6 bytes{{$}}
// CHECK-NEXT: reads in at 8*(G0 + 1) + 6, 2 bytes{{$}}
// CHECK-NEXT: writes out at 8*G0, 6 bytes{{$}}
// CHECK-NEXT: may write out at 8*G0 + 6, 2 bytes{{$}}
kernel void padded_halves(global half* out, global const half* in) {
  size_t i = get_global_id(0);
  vstorea_half3_rtz(vloada_half3(i + 1, in), i, out);
}

// So it is of vectors that a group copies.
// CHECK-LABEL: kernel copied_threes(
// CHECK: reads in at 256*W0 + 16*k0, 12 bytes, k0 < 16{{$}}
// CHECK-NEXT: reads in at 256*W0 + 16*k0 + 12, 4 bytes, k0 < 16{{$}}
// CHECK-NEXT: writes out at 512*W0 + 32*k0, 12 bytes, k0 < 16{{$}}
// CHECK-NEXT: may write out at 512*W0 + 32*k0 + 12, 4 bytes, k0 < 16{{$}}
kernel void copied_threes(global float3* out, global const float3* in, local float3* between) {
  event_t e = async_work_group_copy(between, in + 16 * get_group_id(0), 16, 0);
  wait_group_events(1, &e);
  e = async_work_group_strided_copy(out + 32 * get_group_id(0), between, 16, 2, 0);
  wait_group_events(1, &e);
}

// Vector arithmetic in an index.
// CHECK-LABEL: kernel vector_index(
// CHECK-NEXT: writes a at 4*(64*(G1 + shift.32) + G0 + shift), 4 bytes{{$}}
kernel void vector_index(global int* a, int2 shift) {
  int2 p = (int2)(get_global_id(0), get_global_id(1)) + shift;
  a[p.y * 64 + p.x] = 3;
}

// CHECK-LABEL: kernel second_results(
// CHECK-DAG: writes c at 4*G0, 4 bytes{{$}}
// CHECK-DAG: writes e at 4*G0, 4 bytes{{$}}
// CHECK-DAG: writes f at 16*G0, 16 bytes{{$}}
kernel void second_results(global float* c, global int* e, global float4* f, float x) {
  int i = get_global_id(0);
  float s = sincos(x, c + i) + frexp(x, e + i);
  float4 whole = fract((float4)(x), f + i);
}
