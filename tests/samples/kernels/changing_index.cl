// What these read and write depends on what other buffers hold.
kernel void gather_rows(int rows, global const int* rowBegin, global const int* column,
                        global const int* x, global int* y) {
  const int row = get_global_id(0);
  if (row >= rows)
    return;
  int sum = 0;
  for (int k = rowBegin[row]; k < rowBegin[row + 1]; ++k)
    sum += x[column[k]];
  y[row] = sum;
}

kernel void scatter(global const int* target, global const int* x, global int* out) {
  const int i = get_global_id(0);
  out[target[i]] = 3 * x[i] + i;
}

// A work-group for each block; blocks come in any order.
kernel void fill_blocks(global const int* block, global const int* base, global int* out) {
  out[base[block[get_group_id(0)]] + get_local_id(0)] = 7 * get_group_id(0) + get_local_id(0);
}

kernel void rotate_index(global int* index, int by, int size) {
  const int i = get_global_id(0);
  index[i] = (i + by) % size;
}

// Reads its index from what it writes.
kernel void in_place(global int* index, global const int* same) {
  const int i = get_global_id(0);
  index[i] = same[i] + 1;
}
