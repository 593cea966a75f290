// Addresses that are constants: the last element of local memory, and the second half of a table.
//@ splits last_of_tile
//@ splits second_half
//@ buffer a 1024*4 random 1
//@ buffer b 1024*4 zero
//@ buffer c 1024*4 zero
//@ run last_of_tile g=1024 l=64 : a b
//@ run second_half g=1024 l=64 : c
constant int table[8] = {2, 3, 5, 7, 11, 13, 17, 19};
kernel void last_of_tile(global const int* a, global int* b) {
  local int tile[64];
  tile[get_local_id(0)] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[get_global_id(0)] = tile[63] + (int)get_group_id(0);
}
kernel void second_half(global int* c) {
  constant int* half_of = table + 4;
  c[get_global_id(0)] = half_of[get_global_id(0) & 3] + (int)get_group_id(0);
}
