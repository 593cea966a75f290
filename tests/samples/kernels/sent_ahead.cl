// A value from its neighbours, by weights that the launch only reads: one of `choices` for each.
kernel void weigh(uint n, uint choices, global const uint *weights, global const uint *more,
                  global const uint *in, global uint *out) {
  const uint i = get_global_id(0);
  const uint left = i == 0 ? n - 1 : i - 1, right = i == n - 1 ? 0 : i + 1;
  out[i] = weights[i * choices + in[i] % choices] * in[i] +
           more[i * choices + in[left] % choices] * in[left] + in[right];
}

kernel void change(uint choices, global uint *weights, uint by) {
  const uint i = get_global_id(0);
  weights[i * choices + by % choices] += by;
}
