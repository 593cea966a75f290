// Grid-stride loops: by global size, and by number of groups times local size.
//@ buffer x 40004 float 7
//@ buffer y 40004 float 8
//@ run stride_by_size g=512 l=32 : x y int=10001 float=1.5
//@ run stride_by_groups g=512 l=32 : y x uint=10001
kernel void stride_by_size(global const float* x, global float* y, int n, float a) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    y[i] = a * x[i] + y[i];
}
kernel void stride_by_groups(global const float* x, global float* y, uint n) {
  const uint step = get_num_groups(0) * get_local_size(0);
  for (uint i = get_group_id(0) * get_local_size(0) + get_local_id(0); i < n; i += step)
    y[i] = x[i] - 0.25f * y[i];
}
