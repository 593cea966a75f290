// Of which nothing is known: who was first is told by an element.
kernel void take(global uint* data, uint n) {
  const uint place = atomic_inc(&data[0]);
  if (place + 1 < n)
    data[place + 1] = 7 * place;
}

kernel void add(global uint* data, global const uint* some) {
  const size_t i = get_global_id(0);
  data[i] = data[i] * 3u + some[i % 128];
}

// Each work-item reads all of the first n.
kernel void sums(global const uint* data, global uint* out, uint n) {
  const uint i = get_global_id(0);
  uint sum = 0;
  for (uint k = 0; k < n; ++k)
    sum += data[k] * (k ^ i);
  out[i] = sum;
}
