// Elements looked up at places that wrap around: what divides them before does not after.
//@ buffer table 4096*4 below:32 7
//@ buffer out 64*4 zero
//@ buffer marks 64*4 zero
//@ run by_char g=756 l=3 : out table
//@ run by_int g=756 l=3 : marks table
//@ buffer img 8192 random 3
//@ buffer rank 256*4 below:1000 5
//@ buffer ranked 4096*4 zero
//@ buffer base 4*4 below:4 9
//@ buffer far 4200*4 zero
//@ run same g=4096 l=64 : ranked img rank
//@ run order g=4096 l=64 : img rank
//@ run moved g=4096 l=64 : far base
kernel void by_char(global int* out, global const int* table) {
  const int g = get_global_id(0);
  const char c = (char)(g * 43);
  out[table[c + 129]] = 1;
}
kernel void by_int(global int* marks, global const int* table) {
  const uint place = (uint)get_global_id(0) * 3221225475u; // 3 (2^30 + 1)
  if (place < 4096)
    marks[table[place]] = 1;
}
// Two on one line whose places are known in part alone look the same, and are not.
kernel void same(global int* ranked, global uchar* img, global const int* rank) {
  const size_t i = get_global_id(0);
  if (rank[img[2 * i]] <= rank[img[2 * i + 1]])
    ranked[i] = 1;
  img[2 * i] = img[2 * i] + 1;
}
kernel void order(global uchar* img, global const int* rank) {
  const size_t i = 2 * get_global_id(0);
  if (rank[img[i]] > rank[img[i + 1]]) {
    const uchar t = img[i];
    img[i] = img[i + 1];
    img[i + 1] = t;
  }
}
constant int turn[4] = {2, 0, 3, 1};
kernel void moved(global int* far, global const int* base) {
  const int i = get_global_id(0);
  far[8 * base[turn[i & 3]] - 8 * base[turn[(i + 1) & 3]] + i + 48] = i;
}
