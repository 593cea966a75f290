// Bitonic, odd-even, merge and rank sort, radix digits with a histogram per group.
//@ splits bitonic
//@ splits odd_even
//@ splits rank_sort
//@ buffer a 512*4 random 1
//@ buffer m 512*4 random 2
//@ buffer n 512*4 zero
//@ buffer o 512*4 random 3
//@ buffer r 512*4 zero
//@ buffer hist 16*16*4 zero
//@ for stage 0..3
//@ for pass 0..3
//@ run bitonic g=256 l=32 : a uint=$stage uint=$pass
//@ end
//@ end
//@ for w 1 2 4 8 16 32
//@ run merge g=512 l=64 : m n int=$w int=512
//@ swap m n
//@ end
//@ for t 0..5
//@ run odd_even g=256 l=16 : o int=$t int=512
//@ end
//@ run rank_sort g=512 l=32 : a r int=512
//@ run digits g=512 l=32 : a hist int=4 local=64
kernel void bitonic(global uint* a, uint stage, uint pass) {
  if (pass > stage)
    return;
  uint i = get_global_id(0);
  uint distance = 1u << (stage - pass);
  uint left = (i % distance) + (i / distance) * (distance << 1), right = left + distance;
  bool up = ((i >> stage) & 1) == 0;
  uint l = a[left], r = a[right];
  a[left] = (l > r) == up ? r : l;
  a[right] = (l > r) == up ? l : r;
}
kernel void merge(global const int* in, global int* out, int width, int n) {
  int i = get_global_id(0) * 2 * width;
  if (i >= n)
    return;
  int mid = min(i + width, n), end = min(i + 2 * width, n), l = i, r = mid;
  for (int k = i; k < end; k++)
    if (l < mid && (r >= end || in[l] <= in[r]))
      out[k] = in[l++];
    else
      out[k] = in[r++];
}
kernel void odd_even(global int* a, int t, int n) {
  int i = 2 * get_global_id(0) + (t & 1);
  if (i + 1 >= n)
    return;
  int l = a[i], r = a[i + 1];
  if (l > r) {
    a[i] = r;
    a[i + 1] = l;
  }
}
kernel void rank_sort(global const uint* a, global uint* r, int n) {
  int i = get_global_id(0), rank = 0;
  for (int k = 0; k < n; ++k)
    rank += a[k] < a[i] || (a[k] == a[i] && k < i);
  r[i] = rank;
}
kernel void digits(global const uint* a, global uint* hist, int shift, local uint* counts) {
  uint l = get_local_id(0);
  if (l < 16)
    counts[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&counts[(a[get_global_id(0)] >> shift) & 15]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 16)
    hist[l * get_num_groups(0) + get_group_id(0)] = counts[l];
}
