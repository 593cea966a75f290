// Elements that are found by elements that are found by elements.
//@ splits gather
//@ splits blocks
//@ splits blocks_onto
//@ splits rows
//@ splits bytes
//@ splits tiles
//@ splits records
//@ splits product
//@ splits tables
//@ splits in_itself
//@ buffer p 4096*4 permutation 1
//@ buffer q 4096*4 permutation 2
//@ buffer r 4096*4 below:4096 3
//@ buffer begin 4097*4 rising:6 4
//@ buffer small 4096 random 5
//@ buffer x 65536*4 float 6
//@ buffer y 65536*4 random 7
//@ buffer z 4096*4 zero
//@ buffer shorts 4096*2 short-below:2048 8
//@ run gather g=4096 l=32 : p q r x z
//@ run gather g=3000 l=24 o=17 : p q r x z
//@ run blocks g=4096 l=16 : p q y
//@ run blocks_onto g=4096 l=16 : p q y
//@ run rows g=1024 l=16 : p begin r x z
//@ run bytes g=4096 l=16 : small shorts x z
//@ run tiles g=16,64 l=8,4 : p q x y int=16
//@ run records g=2048 l=32 : q p z
//@ run product g=256 l=16 : small y
//@ run tables g=4096 l=64 : p q shorts y
//@ run in_itself g=2048 l=16 : r
kernel void gather(global const uint* p, global const uint* q, global const uint* r, global const float* x,
                   global float* z) {
  size_t i = get_global_id(0);
  z[i] = x[r[q[p[i]]]] + x[4 * q[p[i]] + 3];
}
// Each work-group a row of its own, wherever that is.
kernel void blocks(global const int* p, global const int* q, global uint* y) {
  y[16 * q[p[get_group_id(0)]] + get_local_id(0)] = get_global_id(0);
}
// The same onto what is there: that no two have the same place is found out.
kernel void blocks_onto(global const int* p, global const int* q, global uint* y) {
  y[16 * q[p[get_group_id(0)]] + get_local_id(0)] ^= get_global_id(0);
}
kernel void rows(global const uint* p, global const uint* begin, global const uint* r, global const float* x,
                 global float* z) {
  size_t i = get_global_id(0);
  uint row = p[i];
  float sum = 0;
  for (uint k = begin[row]; k < begin[row + 1]; ++k)
    sum += x[k] * x[r[k & 4095]];
  z[i] = sum;
}
kernel void bytes(global const uchar* small, global const ushort* shorts, global const float* x, global float* z) {
  size_t i = get_global_id(0);
  z[i] = x[shorts[small[i] * 16 + 5] * 2 + small[shorts[i]]];
}
kernel void tiles(global const int* p, global const int* q, global const float* x, global float* y, int width) {
  int column = get_global_id(0), row = get_global_id(1);
  int from = p[q[row] & 63] & 63;
  y[q[p[row]] * width + column] = x[from * width + column];
}
typedef struct { int next, key; } Node;
// Nodes lie in `q`, two ints each; three steps.
kernel void records(global const int* q, global const int* p, global int* z) {
  global const Node* nodes = (global const Node*)q;
  int i = get_global_id(0);
  int second = nodes[nodes[i].next & 2047].key & 2047;
  z[p[i] & 4095] = nodes[second].next;
}
// What two elements multiply to.
kernel void product(global const uchar* small, global uint* y) {
  size_t i = get_global_id(0);
  y[(uint)small[i] * small[i + 256]] = 7;
}
kernel void tables(global const int* p, global const int* q, global const ushort* shorts, global uint* y) {
  int i = get_global_id(0);
  int choice = shorts[i] & 1 ? p[q[i]] : q[p[i]] + 4096;
  y[max(choice, 3) + (shorts[i] >> 9)] = 1;
}
// Reads by one half of a buffer, and writes the other.
kernel void in_itself(global uint* r) {
  size_t i = get_global_id(0);
  r[2048 + i] = r[r[i] & 2047];
}
