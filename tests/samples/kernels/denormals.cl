kernel void halve(global const float* in, global float* out) {
  int i = get_global_id(0);
  out[i] = in[i] * 0.5f;
}
