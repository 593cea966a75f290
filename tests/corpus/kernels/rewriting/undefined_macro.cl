// #undef of a built-in's name is harmless natively.
//@ buffer a 4096 random 2
//@ buffer b 4096 zero
//@ run after_undef g=1024 l=16 : a b
#undef get_group_id
#ifdef get_global_size
#error "defined as a macro"
#endif
#undef get_global_size
kernel void after_undef(global const int* a, global int* b) {
  int i = get_global_id(0);
  b[i] = a[i] + (int)get_group_id(0) * 3 + (int)get_global_size(0);
}
