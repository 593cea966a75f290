// Bottom-up merge sort: blocks of BLOCK keys are sorted first, then pairs of runs merged.

#define BLOCK 16

// Each work-item sorts keys [i * BLOCK, (i + 1) * BLOCK), by insertion.
kernel void sort_blocks(global const uint *in, global uint *out) {
  const size_t begin = get_global_id(0) * BLOCK;
  uint keys[BLOCK];
  for (int k = 0; k < BLOCK; ++k) {
    const uint key = in[begin + k];
    int at = k;
    for (; at > 0 && keys[at - 1] > key; --at)
      keys[at] = keys[at - 1];
    keys[at] = key;
  }
  for (int k = 0; k < BLOCK; ++k)
    out[begin + k] = keys[k];
}

// Each work-item merges two sorted runs of `width` keys into one of twice as many. There are half as
// many work-items in each pass as in the last: one, in the end.
kernel void merge_pass(uint width, global const uint *in, global uint *out) {
  const size_t begin = get_global_id(0) * 2 * width;
  uint left = 0, right = 0;
  for (uint k = 0; k < 2 * width; ++k) {
    const bool takesLeft = right == width || (left < width && in[begin + left] <=
                                                                  in[begin + width + right]);
    out[begin + k] = takesLeft ? in[begin + left] : in[begin + width + right];
    if (takesLeft)
      ++left;
    else
      ++right;
  }
}
