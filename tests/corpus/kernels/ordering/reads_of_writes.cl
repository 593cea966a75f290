// Work-groups that read what others write in the same launch: nothing orders them, but one device
// that takes them one after the other gives the same result each time. Where ids alone tell that it
// is so, the launch stays on one device.
//@ splits_never resampled
//@ splits_never first_group_prepares
//@ splits_never moved_up
//@ splits_never summed_along
//@ splits_never into_a_shifted_self
//@ splits_never vectors_moved
//@ buffer u 1024*4 float 1
//@ buffer v 1024*4 float 2
//@ buffer w 1040*4 float 3
//@ buffer x 64*64*4 float 4
//@ buffer y 1064*4 float 5
//@ buffer z 1024*16 float 6
//@ run resampled g=1024 l=16 : u float=0.25
//@ run first_group_prepares g=1024 l=16 : v
//@ run moved_up g=1024 l=16 : w
//@ run summed_along g=4096 l=16 : x
//@ sub after y 128 1024*4
//@ run into_a_shifted_self g=1024 l=16 : y after
//@ run vectors_moved g=512 l=16 : z
// Item 0 writes where all read, as a well-known particle filter does.
kernel void resampled(global float* u, float step) {
  size_t i = get_global_id(0);
  if (i == 0) u[0] = step / 1024;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  u[i] = u[0] + i / 1024.0f;
}
kernel void first_group_prepares(global float* v) {
  size_t i = get_global_id(0);
  if (get_group_id(0) == 0) v[i] = 2 * v[i];
  else v[i] = v[get_local_id(0)] + 1;
}
kernel void moved_up(global float* w) {
  size_t i = get_global_id(0);
  w[i + 16] = w[i] + 1;
}
kernel void summed_along(global float* x) {
  size_t i = get_global_id(0);
  if (i >= 64) x[i] += 0.5f * x[i - 64];
}
kernel void into_a_shifted_self(global float* to, global const float* from) {
  size_t i = get_global_id(0);
  to[i] = from[i] + 1;
}
kernel void vectors_moved(global float4* z) {
  size_t i = get_global_id(0);
  if (i < 496) z[i].xyz = z[i + 16].xyz + 1;
}
