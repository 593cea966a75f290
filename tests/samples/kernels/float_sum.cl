// OpenCL C has no atomic addition of floats: every program writes this loop.
void add(volatile global float* sum, float x) {
  union {
    uint bits;
    float value;
  } before, after;
  do {
    before.value = *sum;
    after.value = before.value + x;
  } while (atomic_cmpxchg((volatile global uint*)sum, before.bits, after.bits) != before.bits);
}

kernel void float_sum(global const float* x, volatile global float* sums) {
  const uint i = get_global_id(0);
  add(&sums[i % 8], x[i]);
}
