// The program uses libsplit's own prefix, and members and strings named like built-ins.
//@ buffer a 4096 random 11
//@ buffer b 4096 zero
//@ run names_in_use g=1024 l=8 : a b
typedef struct { int get_group_id; int part; } Named;
static int libsplit_part(int part) { return part + 1; }
static int libsplit_get_group_id(Named n) { return n.get_group_id + n.part; }
kernel void names_in_use(global const int* a, global int* b) {
  Named n;
  n.get_group_id = get_group_id(0);
  n.part = libsplit_part(a[get_global_id(0)]);
  b[get_global_id(0)] = libsplit_get_group_id(n);
}
