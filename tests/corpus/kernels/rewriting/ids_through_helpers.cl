// Ids asked for in helpers of helpers, declared before they are defined, some with (void).
//@ splits through_helpers
//@ options -cl-std=CL2.0
//@ buffer a 16384 random 5
//@ buffer b 16384 zero
//@ run through_helpers g=64,64 l=8,4 o=16,32 : a b int=64
int row(void);
int column();
static inline int groupOf(int d) { return get_group_id(d); }
int position(int width) { return row() * width + column(); }
int row(void) { return get_global_id(1) - get_global_offset(1); }
int column() { return (int)(get_global_id(0) - get_global_offset(0)); }
int tag() { return groupOf(0) + groupOf(1) * (int)get_num_groups(0); }
kernel void through_helpers(global const int* a, global int* b, int width) {
  int i = position(width);
  b[i] = a[i] * 3 + tag() + (int)get_global_linear_id();
}
