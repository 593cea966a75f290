// Addresses that depend on buffers in ways of which the least and the greatest element say little.
kernel void gather_nested(global const int* order, global const int* column, global const int* x,
                          global int* y) {
  const int i = get_global_id(0);
  y[i] = x[column[order[i]]];
}

// Rows of a sparse matrix, in another order than they are stored in.
kernel void sum_rows(global const int* order, global const int* begin, global const int* value,
                     global int* sum) {
  const int row = order[get_global_id(0)];
  int total = 0;
  for (int k = begin[row]; k < begin[row + 1]; ++k)
    total += value[k];
  sum[get_global_id(0)] = total;
}

// A work-group for each block, blocks in any order and anywhere.
kernel void fill_blocks(global const int* block, global const int* start, global int* out) {
  out[start[block[get_group_id(0)]] + get_local_id(0)] = get_global_id(0);
}

kernel void scatter_products(global const int* row, global const int* pitch, global int* out) {
  const int i = get_global_id(0);
  out[row[i] * pitch[i]] = 5 * i;
}

// What has no target, or none that exists, stays where it is.
kernel void scatter_present(global const int* target, int count, global int* out) {
  const int i = get_global_id(0);
  if (i < count && target[i] >= 0 && target[i] != 0x7fffffff)
    out[target[i]] = i + 1;
}

// The same by way of a table, which ends before what is not there.
kernel void scatter_looked_up(global const int* entry, global const int* table, global int* out) {
  const int i = get_global_id(0);
  if (entry[i] >= 0 && entry[i] < 0x7fffff00)
    out[table[entry[i]]] = 3 * i;
}
