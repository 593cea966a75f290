// reqd_work_group_size, hints, and a work-group uniform guard with early returns before barriers.
//@ splits required_size
//@ buffer a 16384 random 10
//@ buffer b 16384 zero
//@ run required_size g=64,64 l=8,8 : a b int=60
//@ run required_size g=64,64 : a b int=50
__attribute__((reqd_work_group_size(8, 8, 1))) __attribute__((vec_type_hint(int4)))
kernel void required_size(global const int* a, global int* b, int limit) {
  local int tile[8][9];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int gx = get_group_id(0) * 8, gy = get_group_id(1) * 8;
  if (gy + 8 > limit)
    return;
  tile[ly][lx] = a[(gy + ly) * 64 + gx + lx];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[(gx + ly) * 64 + gy + lx] = tile[lx][ly];
}
