// Each element with its neighbours, from one buffer to another.
kernel void smooth(global const uint* from, global uint* to, uint n) {
  const size_t i = get_global_id(0);
  if (i < n)
    to[i] = from[i] + 3u * from[i > 0 ? i - 1 : i] + 5u * from[i + 1 < n ? i + 1 : i];
}

// In place.
kernel void stir(global uint* data, uint by) {
  const size_t i = get_global_id(0);
  data[i] = data[i] * 5u + (uint)i + by;
}

// Each work-group adds up what it has, for all of them in one place.
kernel void add_up(global const uint* data, global uint* sum, local uint* part) {
  const size_t l = get_local_id(0);
  part[l] = data[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
    if (l < reach)
      part[l] += part[l + reach];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0)
    atomic_add(sum, part[0]);
}

// Each of two neighbours writes a component of the element between them.
kernel void share(global uint2* pairs, global const uint* numbers) {
  const size_t i = get_global_id(0);
  pairs[i].x = numbers[i] + 1;
  pairs[i + 1].y = numbers[i] + 2;
}

// What an atomic says makes nobody know what comes of it.
kernel void entangle(global uint* from, global uint* to) {
  const size_t i = get_global_id(0);
  to[i] = atomic_add(&from[i], 5u);
}
