kernel void advance(global uint* data, uint n) {
  size_t i = get_global_id(0);
  if (i < n)
    data[i] = data[i] * 3u + (uint)i;
}

// A work-item per column.
kernel void fill_columns(global uint* matrix, uint rows, uint step) {
  size_t i = get_global_id(0);
  for (uint row = 0; row < rows; ++row)
    matrix[row * get_global_size(0) + i] += step + row;
}

kernel void tally(global const uint* data, global uint* bins, uint bin_count) {
  atomic_inc(&bins[data[get_global_id(0)] % bin_count]);
}

kernel void scatter(global const uint* to, global uint* data, uint n) {
  size_t i = get_global_id(0);
  if (i < n)
    data[to[i]] = to[i] + n;
}

kernel void shift(global const uint* from, global uint* to, uint by, uint n) {
  size_t i = get_global_id(0);
  if (i + by < n)
    to[i] = from[i + by];
}
