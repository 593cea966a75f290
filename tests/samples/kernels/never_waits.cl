// A random number generator of one work-item, and what is made of its state.
kernel void advance(global uint *state) {
  for (int i = 0; i < 624; ++i)
    state[i] = state[i] * 1664525u + 1013904223u;
}

kernel void draw(global const uint *state, global uint *out) {
  const uint i = get_global_id(0);
  out[i] = state[i] ^ (state[i] >> 11);
}
