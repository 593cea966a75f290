// Blocks of a size that is computed are copied as wholes.
//@ buffer in 4096*4 random 5
//@ buffer out 4096*4 zero
//@ buffer again 4096*4 random 6
//@ run copy_rows g=128 l=8 : out in int=128
//@ run clear_rows g=128 l=8 : again int=96
//@ run use g=4096 l=32 : out again
kernel void copy_rows(global uint* out, global const uint* in, int bytes) {
  const int row = get_global_id(0);
  __builtin_memcpy((global char*)out + row * bytes, (global const char*)in + row * bytes, bytes);
}
kernel void clear_rows(global uint* out, int bytes) {
  const int row = get_global_id(0);
  __builtin_memset((global char*)out + row * 128, 0, bytes);
}
kernel void use(global uint* out, global const uint* again) {
  const size_t i = get_global_id(0);
  out[i] = out[i] * 3 + again[i];
}
