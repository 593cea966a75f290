// Dimension 0 walks down columns, and a column split interleaves the pieces' bytes.
//@ splits column_major
//@ buffer a 96*80*2 random 6
//@ buffer b 96*80*2 zero
//@ run column_major g=80,96 l=5,4 : a b
kernel void column_major(global const ushort* a, global ushort* b) {
  ushort c = get_global_id(0), r = get_global_id(1);
  b[c * 96 + r] = a[r * 80 + c] ^ (ushort)0x55aa;
}
