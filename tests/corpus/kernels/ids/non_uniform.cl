// Groups that do not divide the range, in both dimensions.
//@ options -cl-std=CL2.0
//@ buffer a 61*37*4 random 3
//@ buffer b 61*37*4 zero
//@ buffer c 8*10*4 zero
//@ run non_uniform g=61,37 l=8,4 o=2,1 : a b c int=61
//@ run non_uniform g=61,37 l=16,8 o=0,7 : b a c int=61
kernel void non_uniform(global const int* a, global int* b, global int* perGroup, int w) {
  size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
  b[y * w + x] = a[y * w + x] + (int)(get_local_size(0) * 100 + get_local_size(1)) +
                 (int)get_enqueued_local_size(0) * 7;
  if (get_local_id(0) == get_local_size(0) - 1 && get_local_id(1) == get_local_size(1) - 1)
    perGroup[get_group_id(1) * get_num_groups(0) + get_group_id(0)] =
        get_local_size(0) * 1000 + get_local_size(1);
}
