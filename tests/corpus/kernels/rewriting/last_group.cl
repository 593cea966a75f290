// The last group does something else, and so does the last item of the whole range.
//@ splits last_group
//@ buffer a 4096 random 10
//@ buffer b 4100 zero
//@ run last_group g=1024 l=32 : a b
kernel void last_group(global const int* a, global int* b) {
  size_t i = get_global_id(0);
  int v = a[i];
  if (get_group_id(0) == get_num_groups(0) - 1)
    v = ~v;
  b[i] = v;
  if (i == get_global_size(0) - 1)
    b[i + 1] = 42;
}
