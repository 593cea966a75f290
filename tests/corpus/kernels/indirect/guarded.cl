// Elements that say that there is no element.
//@ splits make
//@ splits present
//@ splits compact
//@ splits owned
//@ splits frontier
//@ splits otherwise
//@ splits end_of_list
//@ buffer p 4096*4 permutation 1
//@ buffer index 4096*4 zero
//@ buffer table 1024*4 permutation 2
//@ buffer flag 4096 random 3
//@ buffer begin 4097*4 rising:5 4
//@ buffer x 65536*4 float 5
//@ buffer y 65536*4 random 6
//@ buffer z 4096*4 random 7
//@ run make g=4096 l=64 : p index
//@ run present g=4096 l=32 : index z
//@ run compact g=4160 l=64 : index table z int=4096
//@ run owned g=4096 l=16 : flag index y int=3
//@ run frontier g=4096 l=64 : flag p begin x y
//@ run otherwise g=4096 l=64 : index table z
//@ run end_of_list g=256 l=16 : index z
// -1, far beyond every buffer, or a place near the item.
kernel void make(global const int* p, global int* index) {
  int i = get_global_id(0);
  index[i] = p[i] % 5 == 0 ? -1 : p[i] % 5 == 1 ? 0x7ffffff0 : i ^ (p[i] & 15);
}
kernel void present(global const int* index, global int* z) {
  int i = get_global_id(0);
  if (index[i] >= 0 && index[i] < 4096)
    z[index[i]] = i;
}
// Looks into a table that ends before some of the indices.
kernel void compact(global const int* index, global const int* table, global int* z, int count) {
  int i = get_global_id(0);
  if (i >= count)
    return;
  int at = index[i];
  if (at < 0 || at > 1023)
    return;
  z[table[at]] = 3 * i;
}
kernel void owned(global const uchar* flag, global const int* index, global uint* y, int owner) {
  int i = get_global_id(0);
  if ((flag[i] & 3) != owner)
    return;
  if (index[i] != -1 && index[i] != 0x7ffffff0)
    y[2 * index[i] + (flag[i] >> 7)] = i;
}
kernel void frontier(global const char* flag, global const uint* p, global const uint* begin, global const float* x,
                     global float* y) {
  size_t i = get_global_id(0);
  float sum = 0;
  if (flag[i] < 0)
    for (uint k = begin[p[i]]; k < begin[p[i] + 1]; ++k)
      sum += x[k];
  y[i] = sum;
}
// One of two places, of which one may not be there.
kernel void otherwise(global const int* index, global const int* table, global int* z) {
  int i = get_global_id(0);
  int at = index[i];
  z[i] = at >= 0 && at < 1024 ? table[at] : table[i & 1023];
}
// Ends at the first index that is none.
kernel void end_of_list(global const int* index, global int* z) {
  int i = get_global_id(0);
  for (int k = 0; k < 16; ++k) {
    int at = index[16 * i + k];
    if (at < 0)
      break;
    if (at < 4096)
      z[at] = k;
  }
}
