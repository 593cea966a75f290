// Transposes: naive, tiled, in place by pairs, of a batch, and of bytes packed in words.
//@ splits naive
//@ splits tiled
//@ splits batch
//@ buffer a 96*80*4 random 1
//@ buffer b 96*80*4 zero
//@ buffer c 64*64*4 random 2
//@ buffer d 8*24*16*2 random 3
//@ buffer e 8*24*16*2 zero
//@ run naive g=96,80 l=8,8 : a b int=96 int=80
//@ run tiled g=80,96 l=16,16 : b a local=16*17*4
//@ run in_place g=64,64 l=8,8 : c int=64
//@ run batch g=24,16,8 l=4,4,2 : d e
//@ run packed g=16,16 l=4,4 : c
kernel void naive(global const int* a, global int* b, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  b[x * h + y] = a[y * w + x];
}
kernel void tiled(global const int* a, global int* b, local int* tile) {
  int w = get_global_size(0), h = get_global_size(1);
  int lx = get_local_id(0), ly = get_local_id(1);
  tile[ly * 17 + lx] = a[get_global_id(1) * w + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  int x = get_group_id(1) * 16 + lx, y = get_group_id(0) * 16 + ly;
  b[y * h + x] = tile[lx * 17 + ly];
}
kernel void in_place(global int* a, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < y) {
    int t = a[y * n + x];
    a[y * n + x] = a[x * n + y];
    a[x * n + y] = t;
  }
}
kernel void batch(global const short* a, global short* b) {
  size_t w = get_global_size(0), h = get_global_size(1), z = get_global_id(2) * w * h;
  b[z + get_global_id(0) * h + get_global_id(1)] = a[z + get_global_id(1) * w + get_global_id(0)];
}
kernel void packed(global uchar4* a) {
  size_t i = get_global_id(1) * 64 + get_global_id(0) * 4;
  uchar4 r0 = a[i], r1 = a[i + 1], r2 = a[i + 2], r3 = a[i + 3];
  a[i] = (uchar4)(r0.x, r1.x, r2.x, r3.x);
  a[i + 1] = (uchar4)(r0.y, r1.y, r2.y, r3.y);
  a[i + 2] = (uchar4)(r0.z, r1.z, r2.z, r3.z);
  a[i + 3] = (uchar4)(r0.w, r1.w, r2.w, r3.w);
}
