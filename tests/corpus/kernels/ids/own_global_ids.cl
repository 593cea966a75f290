// Global ids put together from group and local ids. They are the same however the NDRange is cut
// into work-groups, so the local size may be left open.
//@ splits own_id
//@ splits own_id_of_two
//@ splits own_id_in_a_helper
//@ splits also_a_size
//@ splits int_within_size
//@ buffer a 20000*4 random 1
//@ buffer b 20000*4 zero
//@ buffer c 100*40*4 zero
//@ buffer d 20000*4 zero
//@ buffer e 20000*4 zero
//@ for n 3000 1003 20000 16 97
//@ run own_id g=$n : a b
//@ run own_id g=$n o=5 : a b
//@ end
//@ run own_id g=1024 l=32 : a b
//@ run own_id_of_two g=100,37 : c int=100
//@ run own_id_of_two g=96,40 o=3,2 : c int=100
//@ run own_id_of_two g=96,40 l=8,4 : c int=100
//@ run own_id_in_a_helper g=5003 : d int=5003
//@ run also_a_size g=4099 : e
//@ run also_a_size g=4096 l=64 : e
//@ run int_within_size g=4097 : a e
//@ run int_within_size g=4096 l=32 : a e
kernel void own_id(global const uint* a, global uint* b) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  b[i] += a[i] ^ (uint)get_global_id(0);
}
kernel void own_id_of_two(global uint* c, int width) {
  const int bx = get_group_id(0), by = get_group_id(1);
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int x = tx + bx * get_local_size(0);
  const int y = (int)get_local_size(1) * by + ty;
  c[y * width + x] += 1000 * y + x;
}
int place() { return 3 + get_group_id(0) * get_local_size(0) + get_local_id(0) - 3; }
kernel void own_id_in_a_helper(global uint* d, int n) {
  if (place() < n) d[place()] = place() * 3;
}
kernel void also_a_size(global uint* e) {
  size_t i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  e[get_global_size(0) - 1 - i] = i + get_global_offset(0);
}
kernel void int_within_size(global const uint* a, global uint* e) {
  const int group = get_group_id(0), item = get_local_id(0);
  e[4 + item + group * get_local_size(0)] ^= a[item - 1 + get_group_id(0) * get_local_size(0) + 1];
}
