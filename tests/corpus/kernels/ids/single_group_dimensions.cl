// Ranges that can be split in one dimension only, or not at all.
//@ buffer a 4096 random 9
//@ buffer b 4096 zero
//@ run thin g=1,1024 l=1,64 : a b
//@ run thin g=1024,1 l=1024,1 : b a
//@ run thin g=1,1,1 l=1,1,1 : a b
//@ run thin g=512,2 l=512,1 : a b
//@ run thin g=7,3 : b a
kernel void thin(global const int* a, global int* b) {
  size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
  b[i] = a[i] * 5 + (int)get_global_size(1);
}
