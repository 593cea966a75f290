// A flat id taken apart with / and %, also by a size that is no power of two, and put together anew.
//@ splits flat_to_rows
//@ splits flat_to_blocks
//@ buffer a 120*84*4 random 7
//@ buffer b 120*84*4 zero
//@ run flat_to_rows g=10080 l=32 : a b int=120 int=84
//@ run flat_to_blocks g=10080 l=24 o=0 : b a
kernel void flat_to_rows(global const int* a, global int* b, int w, int h) {
  int i = get_global_id(0);
  int x = i % w, y = i / w;
  int up = y > 0 ? a[i - w] : 0;
  int left = x > 0 ? a[i - 1] : 0;
  b[y * w + x] = a[i] ^ up ^ (left << 1);
}
kernel void flat_to_blocks(global const int* a, global int* b) {
  size_t i = get_global_id(0);
  size_t block = i / 12, within = i % 12;
  size_t to = block * 12 + (within % 4) * 3 + within / 4;
  b[to] = a[i] + 1;
}
