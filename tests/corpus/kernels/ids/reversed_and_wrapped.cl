// Negative strides, unsigned numbers that wrap on purpose, and small index types.
//@ buffer a 4096 random 8
//@ buffer b 4096 zero
//@ buffer c 4096 zero
//@ buffer d 4096 zero
//@ run reversed g=1024 l=16 : a b
//@ run wrapped g=1024 l=16 : a c
//@ run small_indices g=1024 l=16 : a d
kernel void reversed(global const int* a, global int* b) {
  global int* end = b + get_global_size(0);
  int i = -(int)get_global_id(0);
  end[i - 1] = a[1023 + i];
}
kernel void wrapped(global const int* a, global int* b) {
  uint i = (uint)get_global_id(0);
  uint j = i + 0xfffffff0u;
  b[j + 16u] = a[(j + 20u) & 1023u];
  uint k = (i - 1024u) >> 31;
  b[i] += (int)k;
}
kernel void small_indices(global const int* a, global int* b) {
  uchar lo = (uchar)get_global_id(0);
  char slo = (char)lo;
  ushort hi = (ushort)(get_global_id(0) >> 8);
  short index = (short)((hi << 8) | lo);
  b[index] = a[(uchar)(lo + 200) + (hi << 8)] + a[(slo & 0x7f) + 5];
}
