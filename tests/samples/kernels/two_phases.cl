kernel void relax(global const uint* from, global uint* to, uint n) {
  const uint i = get_global_id(0);
  const uint left = i == 0 ? 0 : from[i - 1], right = i + 1 == n ? 0 : from[i + 1];
  to[i] = from[i] * 5 + (left ^ right);
}

kernel void touch(global uint* values, uint first, uint step) {
  const uint i = first + get_global_id(0);
  values[i] = values[i] * 3 + step;
}
