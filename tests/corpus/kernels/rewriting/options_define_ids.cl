// The macros come from the command line.
//@ options -DGID=get_group_id(0) -DNG(d)=get_num_groups(d) -DTYPE=short -D SCALE=3 -cl-mad-enable
//@ splits options_define
//@ buffer a 4096 random 12
//@ buffer b 4096 zero
//@ run options_define g=2048 l=8 : a b
kernel void options_define(global const TYPE* a, global TYPE* b) {
  int i = get_global_id(0);
  b[i] = (TYPE)(a[i] * SCALE + GID - NG(0));
}
