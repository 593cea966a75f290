kernel void add(global const int* in, global int* out, int c) {
  const int i = get_global_id(0);
  out[i] = in[i] + c;
}
