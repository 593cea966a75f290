// Macros with commas and blocks, stringised built-ins, and sizeof of a call.
//@ buffer a 4096 random 14
//@ buffer b 4096 zero
//@ run commas g=1024 l=16 : a b
#define APPLY(f, ...) f(__VA_ARGS__)
#define DO(...) do { __VA_ARGS__; } while (0)
int mix3(int x, int y, int z) { return x * 31 + y * 7 + z + (int)get_num_groups(0); }
int none(void) { return get_global_size(0); }
kernel void commas(global const int* a, global int* b) {
  size_t i = get_global_id(0);
  DO(int t = APPLY(mix3, a[i], (int)get_group_id(0), 5), u = none(); b[i] = t ^ u);
  b[i] += sizeof(get_group_id(0)) + sizeof(none());
}
