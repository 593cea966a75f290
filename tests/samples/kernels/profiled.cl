kernel void add(global const uint *from, global uint *to) {
  const int i = get_global_id(0);
  uint x = from[i];
  for (uint k = 0; k < 100; ++k)
    x = x * 1664525 + k;
  to[i] += x;
}
