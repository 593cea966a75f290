// Vector types of every width, their parts, three-element vectors with and without padding, half and double.
//@ splits parts
//@ splits packed_threes
//@ splits padded_threes
//@ splits halves
//@ buffer a 256*16 random 1
//@ buffer b 256*16 zero
//@ buffer t 300*12 float 2
//@ buffer u 300*12 zero
//@ buffer v 256*16 zero
//@ buffer h 512*2 zero
//@ buffer f 512*4 float 3
//@ buffer d 128*32 double 4
//@ buffer w 64*64 random 5
//@ run parts g=256 l=16 : a b
//@ run packed_threes g=300 l=20 : t u
//@ run padded_threes g=256 l=16 : t v
//@ run halves g=512 l=32 : f h float=0.25,0.5
//@ run doubles g=128 l=8 : d
//@ run sixteens g=64 l=4 : w int=1,2,3,4
//@ run alternating g=128 l=8 : b
kernel void parts(global const int4* a, global int4* b) {
  size_t i = get_global_id(0);
  int4 x = a[i];
  b[i].xy = x.wz;
  b[i].hi = x.s01;
}
kernel void packed_threes(global const float* t, global float* u) {
  size_t i = get_global_id(0);
  vstore3(vload3(i, t).zxy * 2, i, u);
}
// A float3 takes the place of a float4.
kernel void padded_threes(global const float* t, global float3* v) {
  size_t i = get_global_id(0);
  v[i] = (float3)(t[i], t[i] + 1, t[i] + 2);
}
kernel void halves(global const float* f, global half* h, float2 scale) {
  size_t i = get_global_id(0);
  vstore_half_rte(f[i] * scale.x, i, h);
  if (i & 1)
    vstore_half(vload_half(i, h) + scale.y, i, h);
}
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void doubles(global double4* d) {
  size_t i = get_global_id(0);
  d[i] = d[i] * d[i].s3210 + convert_double4(convert_int4(d[i] * 100));
}
kernel void sixteens(global int16* w, int4 add) {
  size_t i = get_global_id(0);
  int16 x = w[i];
  x.even += (int8)(add, add);
  x.s5aF = add.xyz;
  w[i] = x;
}
// Each item writes every second lane of its four: which bytes are left must stay.
kernel void alternating(global int4* b) {
  size_t i = get_global_id(0);
  b[i].odd = (int2)(i, -(int)i);
}
