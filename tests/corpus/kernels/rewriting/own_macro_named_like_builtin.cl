// A program wraps the built-ins in macros of the same name, as ported code does.
//@ buffer a 4096 random 1
//@ buffer b 4096 zero
//@ run own_macros g=1024 l=16 : a b
#define get_global_size(d) ((int)get_global_size(d))
#define get_group_id(d) ((int)get_group_id(d))
#define get_num_groups(d) ((uint)get_num_groups(d))
kernel void own_macros(global const int* a, global int* b) {
  int i = get_global_id(0);
  b[i] = a[i] ^ (get_group_id(0) * 1000 + get_global_size(0)) ^ (get_num_groups(0) << 20);
}
