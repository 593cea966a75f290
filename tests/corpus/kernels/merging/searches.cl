// Searches for the first, or the last, place that matches. Who has seen a better one leaves early;
// how many do so depends on the order of work-groups, the answer does not.
//@ splits first
//@ splits last
//@ splits_from_source strides
//@ splits_never count_skipped
//@ splits_never polls
//@ buffer data 131072 below:100 23
//@ buffer found 256 below:2000000 29
//@ buffer lasts 256 zero
//@ buffer skipped 4 zero
//@ run first g=32768 l=64 : data found
//@ run last g=512,64 l=64,1 : data lasts
//@ run strides g=1024 l=32 : data found
//@ run count_skipped g=64 l=64 : data found skipped
//@ run polls g=256 l=64 : lasts found
kernel void first(global const uint* data, volatile global uint* found) {
  const uint i = get_global_id(0);
  if (i >= found[0])
    return;
  if (data[i] % 97 == 5)
    atomic_min(&found[0], i);
}

// In each of 64 rows.
kernel void last(global const uint* data, global int* lasts) {
  const int column = get_global_id(0), row = get_global_id(1);
  if (lasts[row] < column && data[row * 512 + column] % 83 == 7)
    atomic_max(&lasts[row], column);
}

// Each work-item goes up by strides, and stops once it is behind what somebody found.
kernel void strides(global const uint* data, global uint* found) {
  for (int i = get_global_id(0); i < 32768; i += 1024) {
    if (i >= (int)found[8])
      break;
    if (data[i] == 99) {
      atomic_min((global int*)&found[8], i);
      break;
    }
  }
}

// One work-group: natively the same each time.
kernel void count_skipped(global const uint* data, global uint* found, global uint* skipped) {
  const uint i = get_global_id(0);
  if (i >= found[16])
    atomic_inc(skipped);
  else if (data[i] == 42)
    atomic_min(&found[16], i);
}

// Who waits for others, however long, is no search.
kernel void polls(global int* flag, global uint* found) {
  const int i = get_global_id(0);
  if (i == 0)
    atomic_max(&flag[63], 1);
  for (int t = 0; t < 1000; ++t)
    if (atomic_or(&flag[63], 0) > 0)
      break;
  found[i & 63] = 7;
}
