// A pass of a radix sort, by four bits from `shift` on. Each work-item has one key. counts[d * groups
// + g] is for work-group g's keys whose digit is d.

kernel void count_digits(uint shift, global const uint *keys, global uint *counts) {
  local uint mine[16];
  const uint me = get_local_id(0);
  if (me < 16)
    mine[me] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&mine[keys[get_global_id(0)] >> shift & 15]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (me < 16)
    counts[me * get_num_groups(0) + get_group_id(0)] = mine[me];
}

// Sums of all counts before each, in place, by one work-group.
kernel void scan(uint n, global uint *counts, local uint *sums) {
  const uint me = get_local_id(0), size = get_local_size(0);
  const uint each = (n + size - 1) / size, begin = min(me * each, n), end = min(begin + each, n);
  uint sum = 0;
  for (uint i = begin; i < end; ++i)
    sum += counts[i];
  sums[me] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint reach = 1; reach < size; reach *= 2) {
    const uint before = me >= reach ? sums[me - reach] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[me] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  uint total = sums[me] - sum;
  for (uint i = begin; i < end; ++i) {
    const uint count = counts[i];
    counts[i] = total;
    total += count;
  }
}

// A key goes behind those of its digit in earlier groups, and of earlier work-items of its own.
kernel void scatter(uint shift, global const uint *keys, global const uint *starts,
                    global uint *sorted, local uchar *digits) {
  const uint me = get_local_id(0), key = keys[get_global_id(0)], digit = key >> shift & 15;
  digits[me] = digit;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint rank = 0;
  for (uint other = 0; other < me; ++other)
    rank += digits[other] == digit;
  sorted[starts[digit * get_num_groups(0) + get_group_id(0)] + rank] = key;
}
