// Every integer type as an element and as an index: narrow ones wrap, signed ones go below zero.
//@ splits chars
//@ splits longs
//@ splits short_index
//@ buffer c 1024 random 1
//@ buffer s 1024*2 random 2
//@ buffer l 512*8 random 3
//@ buffer o 1024*4 zero
//@ buffer p 300*4 zero
//@ buffer q 512*4 zero
//@ run chars g=1024 l=32 : c s
//@ run longs g=512 l=16 : l long=-3
//@ run short_index g=1024 l=64 : s o
//@ run byte_index g=300 l=10 : p
//@ run signed_index g=512 l=32 : q int=-256
//@ run bools g=1024 l=64 : c o int=1
kernel void chars(global char* c, global ushort* s) {
  size_t i = get_global_id(0);
  c[i] = (char)(c[i] * 3 + 1);
  s[i] = (ushort)(s[i] << (i & 7));
}
kernel void longs(global long* l, long factor) {
  long i = get_global_id(0);
  l[i] = l[i] * factor + (i >> 1);
}
kernel void short_index(global const short* s, global int* o) {
  short i = (short)get_global_id(0);
  o[i] = s[i] + i;
}
// The index wraps at 256: groups meet again on the same elements, with the same values.
kernel void byte_index(global int* p) {
  uchar i = (uchar)get_global_id(0);
  p[i] = i;
}
kernel void signed_index(global int* q, int shift) {
  int i = (int)get_global_id(0) + shift;
  q[i - shift] = i / 3 + i % 3;
}
kernel void bools(global const char* c, global int* o, int which) {
  int i = get_global_id(0);
  bool positive = c[i] > 0;
  o[i] += positive ? which : !which;
}
