// Barriers of kernels that leave the local size open, with nothing in global memory for them to order, unless one buffer is
// given twice: such a launch stays whole.
//@ splits before_the_write
//@ splits behind_the_write
//@ splits for_all
//@ splits between_two
//@ splits counts
//@ splits_never shifted
//@ splits_never neighbours
//@ buffer a 4096*4 float 1
//@ buffer b 4096*4 zero
//@ buffer c 4096*4 zero
//@ buffer d 4096*4 zero
//@ buffer e 4096*4 zero
//@ buffer n 4096*4 random 2
//@ buffer bins 256*4 zero
//@ run before_the_write g=4096 : a b int=40
//@ run behind_the_write g=64,64 : a c
//@ run for_all g=4093 : a d int=5
//@ run between_two g=4096 : d e
//@ run counts g=4096 : n bins
//@ run shifted g=64 : n n
//@ run neighbours g=4096 : e
// Each item is done when its data are; the barrier waits for the slowest.
kernel void before_the_write(global const float* in, global float* out, int most) {
  int i = get_global_id(0);
  float x = in[i];
  for (int k = 0; k < most && x > 0.1f; ++k)
    x *= 0.75f;
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = x;
}
kernel void behind_the_write(global const float* in, global float* out) {
  int x = get_global_id(0), y = get_global_id(1);
  out[y * get_global_size(0) + x] = in[x * get_global_size(1) + y];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
kernel void for_all(global const float* in, global float* out, int rounds) {
  int i = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < rounds; ++k) {
    sum += in[(i + k) & 4095];
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  out[i] = sum;
}
kernel void between_two(global float* a, global float* b) {
  int i = get_global_id(0);
  a[i] = i;
  barrier(CLK_GLOBAL_MEM_FENCE);
  b[i] = 2 * i;
}
kernel void counts(global const uint* in, global uint* bins) {
  atomic_inc(&bins[in[get_global_id(0)] & 255]);
  barrier(CLK_GLOBAL_MEM_FENCE);
}
// PoCL makes of all one group, in which everybody reads before anybody writes.
kernel void shifted(global const int* in, global int* out) {
  int i = get_global_id(0);
  int x = in[(i + 1) & 63];
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = x;
}
kernel void neighbours(global float* a) {
  int i = get_global_id(0);
  a[i] = i;
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[i] += 1;
}
