// The same buffer twice, reads of what other groups write elsewhere in it, reads and writes through casts, constant
// memory, private arrays, write-only parts.
//@ splits twice
//@ splits halves_apart
//@ splits through_casts
//@ splits constants
//@ splits every_other
//@ buffer a 2048*4 random 1
//@ buffer b 1024*4 zero
//@ buffer k 64*4 float 2
//@ buffer o 1024*4 zero
//@ buffer g 2048*4 random 3
//@ run twice g=1024 l=32 : b b
//@ run halves_apart g=1024 l=32 : a int=1024
//@ run through_casts g=512 l=16 : a b
//@ run constants g=1024 l=64 : k o
//@ run every_other g=1024 l=32 : g
//@ run private_arrays g=256 l=16 : a o
//@ run gather g=1024 l=64 : a b
//@ run scatter_reversed g=1024 l=64 : a b
kernel void twice(global const int* x, global int* y) {
  size_t i = get_global_id(0);
  y[i] = x[i] + 1;
}
// Reads the upper half of what it writes the lower half of.
kernel void halves_apart(global int* a, int half_of) {
  int i = get_global_id(0);
  a[i] = a[half_of + (i + 5) % half_of];
}
kernel void through_casts(global const void* from, global uchar* to) {
  size_t i = get_global_id(0);
  global const uint2* words = (global const uint2*)from;
  *(global ulong*)(to + i * 8) = as_ulong(words[i]) + 1;
}
constant int table[4] = {1, -2, 3, -4};
constant struct {
  float scale;
  int shift[2];
} settings = {0.5f, {3, 7}};
kernel void constants(constant float* k, global float* o) {
  size_t i = get_global_id(0);
  o[i] = k[i % 64] * settings.scale + table[i & 3] + settings.shift[i & 1];
}
kernel void every_other(global int* g) {
  size_t i = get_global_id(0) * 2;
  g[i] = -g[i + 1];
}
kernel void private_arrays(global const int* a, global int* o) {
  int i = get_global_id(0), mine[8];
  for (int j = 0; j < 8; ++j)
    mine[j] = a[i * 8 + j];
  for (int j = 0; j < 4; ++j)
    o[i * 4 + j] = mine[mine[j] & 7];
}
kernel void gather(global const uint* a, global uint* b) {
  size_t i = get_global_id(0);
  b[i] = a[a[i] % 2048];
}
kernel void scatter_reversed(global const int* a, global int* b) {
  size_t i = get_global_id(0);
  b[get_global_size(0) - 1 - i] = a[i];
}
