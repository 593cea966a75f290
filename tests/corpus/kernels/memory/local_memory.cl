// Local memory: declared in the kernel, given as arguments, several at once, vectors and structs in it, barriers in
// loops and behind uniform conditions, async copies.
//@ splits declared
//@ splits two_arguments
//@ splits in_loops
//@ splits uniform_barrier
//@ buffer a 1024*4 random 1
//@ buffer b 1024*4 zero
//@ buffer c 1024*4 zero
//@ buffer d 64*4 zero
//@ buffer e 1024*4 zero
//@ run declared g=1024 l=64 : a b
//@ run two_arguments g=1024 l=32 : a c local=32*4 local=32*8
//@ run in_loops g=1024 l=16 : a d
//@ run uniform_barrier g=1024 l=32 : b e int=1
//@ run uniform_barrier g=1024 l=32 : a e int=0
//@ run async_copies g=1024 l=64 : a c local=64*4
//@ run async_strided g=256 l=32 : a b local=32*4
kernel void declared(global const int* a, global int* b) {
  local int tile[64];
  local struct {
    int sum;
    int2 ends;
  } shared;
  size_t l = get_local_id(0);
  tile[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    shared.sum = 0;
    for (int i = 0; i < 64; ++i)
      shared.sum += tile[i] >> 8;
    shared.ends = (int2)(tile[0], tile[63]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  b[get_global_id(0)] = shared.sum + tile[63 - l] + shared.ends.x - shared.ends.y;
}
kernel void two_arguments(global const int* a, global int* c, local int* x, local long* y) {
  size_t l = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
  x[l] = a[i];
  y[n - 1 - l] = a[i] * 5L;
  barrier(CLK_LOCAL_MEM_FENCE);
  c[i] = x[(l + 1) % n] + (int)y[l];
}
kernel void in_loops(global const int* a, global int* d) {
  local int t[16];
  size_t l = get_local_id(0);
  t[l] = a[get_global_id(0)] & 255;
  for (size_t half_of = get_local_size(0) / 2; half_of > 0; half_of /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < half_of)
      t[l] += t[l + half_of];
  }
  if (l == 0)
    d[get_group_id(0)] = t[0];
}
kernel void uniform_barrier(global const int* a, global int* e, int reverses) {
  local int t[32];
  size_t l = get_local_id(0), i = get_global_id(0);
  if (reverses) {
    t[l] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    e[i] = t[31 - l];
  } else {
    e[i] ^= a[i];
  }
}
kernel void async_copies(global const int* a, global int* c, local int* t) {
  size_t first = get_group_id(0) * get_local_size(0);
  event_t in = async_work_group_copy(t, a + first, get_local_size(0), 0);
  wait_group_events(1, &in);
  t[get_local_id(0)] *= 3;
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t out = async_work_group_copy(c + first, t, get_local_size(0), 0);
  wait_group_events(1, &out);
}
kernel void async_strided(global const int* a, global int* b, local int* t) {
  size_t first = get_group_id(0) * get_local_size(0);
  event_t in = async_work_group_strided_copy(t, a + first * 4, get_local_size(0), 4, 0);
  wait_group_events(1, &in);
  b[get_global_id(0)] = t[get_local_id(0)];
}
