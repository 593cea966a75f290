// A pass of a bitonic sort: compares keys that are `stride` apart, for sorted runs of `length` keys,
// up and down by turns. Each work-item has a pair of its own, in place.
kernel void compare(uint stride, uint length, global uint *keys) {
  const uint pair = get_global_id(0);
  const uint low = 2 * pair - (pair & (stride - 1)), high = low + stride;
  const uint a = keys[low], b = keys[high];
  const bool isUp = (low & length) == 0;
  keys[low] = isUp ? min(a, b) : max(a, b);
  keys[high] = isUp ? max(a, b) : min(a, b);
}
