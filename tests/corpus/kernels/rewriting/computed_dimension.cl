// The dimension is computed, also beyond the third.
//@ buffer a 32768 zero
//@ run computed_dimension g=16,8,4 l=4,2,2 o=1,2,3 : a int=0
kernel void computed_dimension(global int* a, int zero) {
  int x = get_global_id(0) - 1, y = get_global_id(1) - 2, z = get_global_id(2) - 3;
  int i = (z * 8 + y) * 16 + x;
  int sum = 0;
  for (uint d = 0; d < 3; ++d)
    sum = sum * 7 + (int)get_group_id(d) + 3 * (int)get_num_groups(d) + 5 * (int)get_global_size(d) +
          11 * (int)get_global_offset(d) + 13 * (int)get_local_size(d) + 17 * (int)get_global_id(d);
  a[i] = sum;
  a[512 + i] = (int)get_work_dim();
}
