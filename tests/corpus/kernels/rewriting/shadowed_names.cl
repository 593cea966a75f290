// Local variables and parameters called like the helpers, and a helper called in a condition.
//@ buffer a 4096 random 13
//@ buffer b 4096 zero
//@ run shadowed g=1024 l=16 : a b
int group(void) { return get_group_id(0); }
int twice(int group) { return group * 2; }
kernel void shadowed(global const int* a, global int* b) {
  size_t i = get_global_id(0);
  int g = group() ? group() : -1;
  {
    int group = twice(g);
    b[i] = a[i] + group;
  }
  for (int k = group(); k < group() + 2; ++k)
    b[i] += k * (group() % 3 == 0 && twice(group()) > 4);
}
