// Scans by blocks with carried sums, reductions to one value in several ways, histograms by atomics.
//@ splits block_scan
//@ splits add_carry
//@ splits tree_pass
//@ buffer a 1024*4 below:100 1
//@ buffer s 1024*4 zero
//@ buffer sums 64*4 zero
//@ buffer hist 64*4 zero
//@ buffer total 16 zero
//@ buffer t 1024*4 below:77 2
//@ buffer hillis 1024*4 zero
//@ run block_scan g=1024 l=32 : a s sums local=64*4
//@ run scan_sums g=1 l=1 : sums int=32
//@ run add_carry g=1024 l=32 : s sums
//@ run histogram g=1024 l=64 : a hist
//@ run total_atomic g=1024 l=64 : a total
//@ for d 1 2 4 8 16 32 64 128 256 512
//@ run tree_pass g=1024 l=16 : t int=$d int=1024
//@ run hillis_steele g=1024 l=16 : a hillis int=$d
//@ swap a hillis
//@ end
kernel void block_scan(global const int* a, global int* s, global int* sums, local int* t) {
  int l = get_local_id(0), n = get_local_size(0), out = 0, in = 1;
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < n; d <<= 1) {
    out = 1 - out;
    in = 1 - out;
    t[out * n + l] = l >= d ? t[in * n + l] + t[in * n + l - d] : t[in * n + l];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  s[get_global_id(0)] = t[out * n + l];
  if (l == n - 1)
    sums[get_group_id(0)] = t[out * n + l];
}
kernel void scan_sums(global int* sums, int n) {
  for (int i = 1; i < n; ++i)
    sums[i] += sums[i - 1];
}
kernel void add_carry(global int* s, global const int* sums) {
  if (get_group_id(0) > 0)
    s[get_global_id(0)] += sums[get_group_id(0) - 1];
}
kernel void histogram(global const uint* a, volatile global uint* hist) {
  atomic_inc(&hist[a[get_global_id(0)] % 64]);
}
kernel void total_atomic(global const int* a, global int* total) {
  local int sum;
  if (get_local_id(0) == 0)
    sum = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&sum, a[get_global_id(0)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!get_local_id(0)) {
    atomic_add(total, sum);
    atomic_max(total + 1, sum);
  }
}
kernel void tree_pass(global int* t, int d, int n) {
  int i = get_global_id(0) * 2 * d;
  if (i + d < n)
    t[i] += t[i + d];
}
kernel void hillis_steele(global const int* a, global int* b, int d) {
  int i = get_global_id(0);
  b[i] = i >= d ? a[i] + a[i - d] : a[i];
}
