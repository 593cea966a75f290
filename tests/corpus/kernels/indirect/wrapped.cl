// Elements looked up at places that wrap around: what divides them before does not after.
//@ buffer table 4096*4 below:32 7
//@ buffer out 64*4 zero
//@ buffer marks 64*4 zero
//@ run by_char g=756 l=3 : out table
//@ run by_int g=756 l=3 : marks table
kernel void by_char(global int* out, global const int* table) {
  const int g = get_global_id(0);
  const char c = (char)(g * 43);
  out[table[c + 129]] = 1;
}
kernel void by_int(global int* marks, global const int* table) {
  const uint place = (uint)get_global_id(0) * 3221225475u; // 3 (2^30 + 1)
  if (place < 4096)
    marks[table[place]] = 1;
}
