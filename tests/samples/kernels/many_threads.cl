kernel void triple(global const int* in, global int* out, int c) {
  const int i = get_global_id(0);
  out[i] = in[i] * 3 + c;
}

// Several work-items may write one element, but all the same value.
kernel void scatter(global const int* index, global int* out, int n, int c) {
  const int k = (uint)index[get_global_id(0)] % (uint)n;
  out[k] = k * 7 + c;
}

kernel void tally(global const int* values, global uint* counts, int n) {
  atomic_inc(&counts[(uint)values[get_global_id(0)] % (uint)n]);
}

kernel void gather(global const int* from, global const int* index, global int* out, int n) {
  const int i = get_global_id(0);
  out[i] = from[clamp(index[i], 0, n - 1)];
}
