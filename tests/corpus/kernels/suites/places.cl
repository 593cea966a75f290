// Pointers in all ways: compared, subtracted, cast, chosen, in loops; loads of vectors at any place; asynchronous copies;
// structures by value; constants; halves; wide atomics.
//@ splits null_or walks chosen chosen_each any_place by_struct async async_strided to_half from_half wide ends cursor far_unused row_pointers swap_in_loop back_to_front arrays prefetched do_while jumps table
//@ splits_never unused_volatile low_bits difference
//@ options -cl-std=CL1.2
//@ buffer a 4096*4 float 1
//@ buffer b 4096*4 float 2
//@ buffer o 4096*4 zero
//@ buffer p 4096*4 random 3
//@ buffer k 64*16 float 4
//@ buffer c8 512*8 zero
//@ buffer h 4096*2 zero
//@ sub a1 a 1024 8192
//@ sub a2 a 8192 8192
//@ sub o1 o 4096 4096
//@ run null_or g=1024 l=32 : a null o
//@ run null_or g=1024 l=32 : a b o
//@ run difference g=1024 l=32 : a1 a2 o
//@ run walks g=256 l=16 : a b o int=1024
//@ run chosen g=1024 l=32 : a b o int=1
//@ run chosen g=1024 l=32 : a b o int=0
//@ run chosen_each g=1024 l=32 : a b o
//@ run low_bits g=1024 l=32 : a o
//@ run any_place g=512 l=16 : p o int=3
//@ run by_struct g=512 l=16 : k o int=7;char=3;hex=000000;float=1.5,2.5;double=3.25
//@ run async g=1024 l=64 : a b o local=512
//@ run async_strided g=512 l=32 : a o local=128
//@ run to_half g=1024 l=32 : a h
//@ run from_half g=1024 l=32 : h o
//@ run wide g=1024 l=32 : p c8
//@ run ends g=256 l=16 : a o int=4095
//@ run cursor g=256 l=16 : b o1
//@ run unused_volatile g=512 l=16 : a o
//@ run far_unused g=512 l=16 : a o
//@ run row_pointers g=32,32 l=8,4 : a o
//@ run swap_in_loop g=512 l=32 : a b int=3
//@ run back_to_front g=1024 l=32 : p o
//@ run arrays g=128 l=16 : a o
//@ run prefetched g=512 l=32 : a o
//@ run do_while g=64 l=4 : p o
//@ run jumps g=256 l=16 : p o
//@ run table g=512 l=32 : k p o
kernel void null_or(global const float* x, global const float* y, global float* o) {
  int i = get_global_id(0);
  o[i] = y != NULL ? x[i] + y[i] : x[i];
}
kernel void difference(global const float* x, global const float* y, global float* o) {
  int i = get_global_id(0);
  long d = y - x;
  o[i] = x[i] + (float)d;
}
kernel void walks(global const float* x, global const float* y, global float* o, int n) {
  global const float* p = x + get_global_id(0) * 4;
  global const float* e = p + 4;
  float s = 0;
  for (global const float* q = y + get_global_id(0) * 4; p < e; ++p, ++q) s += *p * *q;
  o[get_global_id(0)] = s;
}
kernel void chosen(global const float* x, global const float* y, global float* o, int which) {
  global const float* p = which ? x : y;
  o[get_global_id(0)] = p[get_global_id(0) + 1];
}
kernel void chosen_each(global float* x, global float* y, global float* o) {
  size_t i = get_global_id(0);
  global float* p = i % 3 ? x : y;
  p[i] = p[i] * 0.5f;
  o[i] = (i & 4 ? x : y)[i + 1024];
}
kernel void low_bits(global const float* x, global uint* o) {
  global const float* p = x + get_global_id(0);
  uint low = (uint)((size_t)p & 63);
  o[get_global_id(0)] = low + (((size_t)(p + 3) & 15) == 0 ? 1000 + (uint)*p : 0);
}
kernel void any_place(global const uchar* p, global uint* o, int shift) {
  size_t i = get_global_id(0);
  uint4 v = vload4(0, (global const uint*)(p + 16 * i + 4));
  uchar16 w = vload16(0, p + 16 * i + shift);
  vstore4(v ^ as_uint4(w), i, o);
}
typedef struct { int n; char c; float f[2]; double d; } Given;
kernel void by_struct(constant float4* k, global float* o, Given g) {
  size_t i = get_global_id(0);
  o[i] = k[i & 63].y * g.n + g.c + g.f[i & 1] + (float)g.d;
}
kernel void async(global const float* x, global const float* y, global float* o, local float* l) {
  size_t at = get_group_id(0) * 64;
  event_t e = async_work_group_copy(l, x + at, 64, 0);
  e = async_work_group_copy(l + 64, y + at, 64, e);
  wait_group_events(1, &e);
  float v = l[get_local_id(0)] * l[127 - get_local_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  l[get_local_id(0)] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_copy(o + at, l, 64, 0);
  wait_group_events(1, &e);
}
kernel void async_strided(global const float* x, global float* o, local float* l) {
  event_t e = async_work_group_strided_copy(l, x + get_group_id(0) * 32 * 8, 32, 8, 0);
  wait_group_events(1, &e);
  l[get_local_id(0)] *= 2;
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_strided_copy(o + get_group_id(0) * 32 * 4, l, 32, 4, 0);
  wait_group_events(1, &e);
}
kernel void to_half(global const float* x, global half* h) {
  size_t i = get_global_id(0);
  vstore_half_rte(x[i], i, h);
  vstore_half2_rtz((float2)(x[i + 1024], x[i]), i + 512, h);
}
kernel void from_half(global const half* h, global float* o) {
  size_t i = get_global_id(0);
  o[i] = vload_half(i, h) + vload_half4(i >> 2, h).y;
}
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void wide(global const uint* p, global ulong* c) {
  atom_add(&c[p[get_global_id(0)] & 127], (ulong)p[get_global_id(0)] << 20);
  atom_max(&c[128 + (p[get_global_id(0)] & 127)], (ulong)p[get_global_id(0)] << 20);
}
kernel void ends(global const float* x, global float* o, int last) {
  int i = get_global_id(0);
  o[i] = x[max(i - 3, 0)] + x[min(i * 16 + 20, last)] + x[last - i];
}
kernel void cursor(global const float* x, global float* o) {
  global float* p = o + get_global_id(0);
  *p++ = x[get_global_id(0)]; 
  *--p += x[(p - o) + 1];
}
kernel void unused_volatile(global volatile float* x, global float* o) {
  int i = get_global_id(0);
  x[4095 - i];
  (void)x[2048];
  o[i] = i;
}
kernel void far_unused(global const float* x, global float* o) {
  int i = get_global_id(0);
  float far = x[4095 - i];
  o[i] = x[i] + (far == far ? 0.0f : 0.0f) + far * 0;
}
kernel void row_pointers(global const float (*m)[64], global float (*o)[64]) {
  size_t x = get_global_id(0), y = get_global_id(1);
  o[y][x] = m[x][y] + m[y][63 - x];
}
kernel void swap_in_loop(global float* x, global float* y, int n) {
  size_t i = get_global_id(0);
  global float* from = x; global float* to = y;
  for (int k = 0; k < n; ++k) {
    to[i] = from[i] * 0.5f + 1;
    global float* t = from; from = to; to = t;
  }
}
kernel void back_to_front(global const uint* p, global uint* o) {
  global const uint* end = p + get_global_size(0);
  o[get_global_id(0)] = *(end - 1 - get_global_id(0));
}
kernel void arrays(global const float a[4096], global float o[static 16]) {
  size_t i = get_global_id(0); float t[32];
  for (int j = 0; j < 32; ++j) t[(j * 7) & 31] = a[i * 32 + j];
  for (int j = 0; j < 32; ++j) o[i * 32 + j] = t[j];
}
kernel void prefetched(global const float* x, global float* o) {
  prefetch(x + get_global_id(0) + 100000, 32);
  o[get_global_id(0)] = x[get_global_id(0) * 2];
}
kernel void do_while(global const uint* p, global uint* o) {
  uint i = get_global_id(0), n = 0; global const uint* q = p + i * 64;
  do { ++n; } while ((*q++ & 7) && n < 64);
  o[i] = n;
}
kernel void jumps(global const uint* p, global uint* o) {
  uint i = get_global_id(0), v = p[i], s = 0;
again:
  s += v & 15; v >>= 4;
  if (v > 3) goto again;
  o[i] = s;
}
kernel void table(constant float4* k, global const uint* p, global float4* o) {
  size_t i = get_global_id(0);
  o[i] = k[p[i] & 63].wzyx * k[get_local_id(0)];
}
