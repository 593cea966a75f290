// Helpers made by macros, calls made by pasting, and an argument list from a macro.
//@ buffer a 16384 random 6
//@ buffer b 16384 zero
//@ run from_macros g=4096 l=32 : a b
//@ run pasted g=4096 l=32 : b a
#define DEFINE_GETTER(name, call) \
  static int name(int bias) {     \
    return (int)call(0) + bias;   \
  }
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define ID(what) get_##what##_id(0)
#define PARAMS (global const int* a, global int* b)
DEFINE_GETTER(wg, get_group_id)
DEFINE_GETTER(ng, get_num_groups)
DEFINE_GETTER(gs, get_global_size)
kernel void from_macros PARAMS {
  int i = get_global_id(0);
  b[i] = a[i] + wg(1) * ng(2) + gs(3);
}
kernel void pasted PARAMS {
  int i = ID(global);
  b[i] = a[i] - (int)ID(group) * (int)CAT(get_num, _groups)(0) + (int)CAT(get_, CAT(global_, size))(0);
}
