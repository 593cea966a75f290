// The line number is part of the result, as in asserts that note where they failed.
//@ buffer a 4096 below:100 4
//@ buffer b 4096 zero
//@ run noted_line g=1024 l=16 : a b
#define CHECK(c) if (!(c)) { b[i] = __LINE__; return; }
kernel void noted_line(global const int* a, global int* b) {
  int i = get_global_id(0);
  b[i] = -1;
  CHECK(a[i] > 10)
  CHECK(a[i] < 50)
  CHECK(a[i] + (int)get_group_id(0) > 60)
  b[i] = get_num_groups(0);
}
