// Functions that another unit defines, with names like those of built-in functions.
#define OVERLOAD __attribute__((overloadable))
int vload_count(void);
void vload_all(ulong at, global int* from);
void vstore_count(int count);
void vstore_all(int value, ulong at, ulong where);
void OVERLOAD write_imagef(write_only image2d_t image);
void OVERLOAD async_work_group_copy(local int* to);
void OVERLOAD async_work_group_strided_copy(local int* to, global int* from, ulong count);
int OVERLOAD clamp(int x);
ulong OVERLOAD get_global_id(void);
float OVERLOAD fract(void);

kernel void loads(global int* a) { a[vload_count()] = 1; }
kernel void loads_nothing(global int* a) { vload_all(0, a); }
kernel void stores(global int* a) { vstore_count(a[0]); }
kernel void stores_nowhere(global int* a) { vstore_all(a[0], 0, 0); }
kernel void pixel(write_only image2d_t image) { write_imagef(image); }
kernel void copies(local int* to) { async_work_group_copy(to); }
kernel void copies_rows(local int* to, global int* from) { async_work_group_strided_copy(to, from, 4); }
kernel void clamps(global int* a, int x) { a[clamp(x)] = 1; }
kernel void asks(global int* a) { a[get_global_id()] = 1; }
kernel void splits(global float* a) { a[0] = fract(); }
