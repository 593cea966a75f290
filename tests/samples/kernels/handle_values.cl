// Numbers of eight bytes, whatever their values are.

typedef struct {
  uint low;
  uint high;
} halves;

__kernel void add_number(__global ulong* out, __global const ulong* in, ulong number) {
  size_t i = get_global_id(0);
  out[i] = in[i] + number;
}

__kernel void add_halves(__global ulong* out, halves number, __global const ulong* in) {
  size_t i = get_global_id(0);
  out[i] = in[i] + ((ulong)number.high << 32) + number.low;
}
