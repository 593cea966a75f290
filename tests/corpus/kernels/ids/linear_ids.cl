// Linear ids in three dimensions with offsets, OpenCL 2.0.
//@ options -cl-std=CL2.0
//@ buffer a 16*12*10*4 random 2
//@ buffer b 16*12*10*8 zero
//@ run linear_ids g=16,12,10 l=4,3,2 o=100,200,300 : a b
kernel void linear_ids(global const uint* a, global ulong* b) {
  size_t i = get_global_linear_id();
  b[i] = a[i] * 1000ul + get_local_linear_id() + 1000000ul * get_enqueued_local_size(1);
}
