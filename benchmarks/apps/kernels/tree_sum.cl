// A level of a sum by divide and conquer: each work-item adds up two halves of a problem, which two
// work-items of the level before have solved.
kernel void add_halves(global const uint *in, global uint *out) {
  const uint i = get_global_id(0);
  out[i] = in[2 * i] + in[2 * i + 1];
}
