// Counters that lie between bytes that are read, in one buffer: what they hold meanwhile on each
// device is nobody's business.
//@ splits count_between
//@ splits count_between_rows
//@ buffer a 16388 random 3
//@ buffer out 8192 zero
//@ buffer rows 65536 random 4
//@ for t 0..3
//@ run count_between g=2048 l=32 : a out
//@ run count_between_rows g=64,64 l=32,4 : rows
//@ end

// Word 2048 counts, those on both sides are read.
kernel void count_between(global int* a, global int* out) {
  const size_t i = get_global_id(0);
  const int x = a[i] ^ a[2049 + i];
  out[i] = x;
  atomic_add(&a[2048], x & 3);
}

// 64 rows of 256 words: word 128 of each counts, the 64 on its either side are read and written.
kernel void count_between_rows(global int* rows) {
  global int* row = rows + get_global_id(1) * 256;
  const size_t x = get_global_id(0);
  row[64 + x] = 3 * row[64 + x] + 1;
  row[129 + x] = row[129 + x] ^ 5;
  atomic_add(&row[128], row[x] & 1);
}
