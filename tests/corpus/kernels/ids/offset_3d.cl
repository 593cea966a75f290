// A volume with offsets in all three dimensions, written back to front.
//@ splits offset_3d
//@ buffer a 64*32*16*4 random 1
//@ buffer b 64*32*16*4 zero
//@ run offset_3d g=48,24,12 l=8,4,2 o=9,5,3 : a b int=64 int=32
//@ run offset_3d g=48,24,12 o=9,5,3 : b a int=64 int=32
kernel void offset_3d(global const int* a, global int* b, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  int from = (z * h + y) * w + x;
  int to = ((15 - z) * h + (31 - y)) * w + (63 - x);
  b[to] = a[from] + x + y * 100 + z * 10000;
}
