// Components of one vector that work-items of different groups write: each is a memory location of
// its own. In one memory compilers lose some by storing whole vectors, so such launches are split
// only where devices have memories of their own.
//@ splits_apart neighbours
//@ splits_apart bytes_apart
//@ splits_apart halves_of_two
//@ splits_apart swizzled
//@ splits_apart members
//@ splits_apart threes
//@ splits_apart columns
//@ splits_apart on_data
//@ splits_apart counted
//@ splits alone
//@ splits one_by_one
//@ buffer f 516*16 float 1
//@ buffer c 516*4 random 2
//@ buffer g 516*16 float 3
//@ buffer e 260*32 random 4
//@ buffer p 516*32 float 5
//@ buffer t 516*16 float 6
//@ buffer q 256*16 random 7
//@ buffer r 516*16 float 8
//@ buffer k 516*16 random 9
//@ buffer a 512*16 float 10
//@ buffer o 512*16 float 11
//@ run neighbours g=512 l=8 : f
//@ run neighbours g=512 l=8 : f
//@ run bytes_apart g=512 l=8 : c
//@ run halves_of_two g=256 l=8 : e
//@ run swizzled g=512 l=8 : g
//@ run members g=512 l=8 : p float=0.5
//@ run threes g=512 l=8 : t
//@ run columns g=256,4 l=256,1 : q
//@ run on_data g=512 l=8 : r
//@ run counted g=512 l=8 : k int=3
//@ run alone g=512 l=8 : a
//@ run one_by_one g=512 l=8 : o f
kernel void neighbours(global float4* f) {
  size_t i = get_global_id(0);
  f[i].x = 2 * f[i].x + 1;
  f[i + 1].y = i;
  f[i + 2].zw = (float2)(f[i + 2].w, i);
}
kernel void bytes_apart(global char4* c) {
  size_t i = get_global_id(0);
  c[i].s0 = i;
  c[i + 1].s3 = c[i + 1].s3 + 1;
}
kernel void halves_of_two(global int8* e) {
  size_t i = get_global_id(0);
  e[i].lo = (int4)(i);
  e[i + 1].hi = e[i + 1].hi + 1;
}
kernel void swizzled(global float4* g) {
  size_t i = get_global_id(0);
  g[i].wx = g[i].xw;
  g[i + 1].zy = (float2)(i, 2);
}
typedef struct { float4 place, speed; } Particle;
kernel void members(global Particle* p, float step) {
  size_t i = get_global_id(0);
  p[i].place.xyz += p[i].speed.xyz * step;
  p[i + 1].place.w = i;
}
kernel void threes(global float3* t) {
  size_t i = get_global_id(0);
  t[i].x += 1;
  t[i + 1].z = i;
}
// A dimension of the NDRange for the components.
kernel void columns(global int4* q) {
  size_t i = get_global_id(0);
  switch (get_global_id(1)) {
  case 0: q[i].x += 1; break;
  case 1: q[i].y += 2; break;
  case 2: q[i].z = 3; break;
  default: q[i].w = i;
  }
}
kernel void on_data(global float4* r) {
  size_t i = get_global_id(0);
  if (r[i].x > 0.5f) r[i].x = -r[i].x;
  if (r[i + 1].y > 0.5f) r[i + 1].y = 0;
}
kernel void counted(global int4* k, int n) {
  size_t i = get_global_id(0);
  for (int j = 0; j < n; ++j) {
    k[i].x += j;
    k[i + 1].w ^= j;
  }
}
// Nobody else writes these vectors.
kernel void alone(global float4* a) {
  size_t i = get_global_id(0);
  a[i].y = -a[i].y;
}
kernel void one_by_one(global float4* o, global const float4* f) {
  size_t i = get_global_id(0);
  o[i].x = f[i].w;
  o[i].y = f[i].z;
  o[i].z = f[i].y;
  o[i].w = f[i].x;
}
