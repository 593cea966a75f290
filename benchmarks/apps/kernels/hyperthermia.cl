// Temperature in a body that is heated from outside: conduction between the points of a grid, blood
// that carries heat off, and a source (H. H. Pennes, 1948). The grid goes on at its opposite side.

uint before(uint i, uint n) {
  return i == 0 ? n - 1 : i - 1;
}

uint after(uint i, uint n) {
  return i == n - 1 ? 0 : i + 1;
}

kernel void heat(uint n, float blood, global const float *conductLeft,
                 global const float *conductRight, global const float *conductAbove,
                 global const float *conductBelow, global const float *conductFront,
                 global const float *conductBack, global const float *perfusion,
                 global const float *source, global const float *capacity, global const float *in,
                 global float *out) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= n || y >= n || z >= n)
    return;
  const uint i = (z * n + y) * n + x;
  const float t = in[i];
  float gain = conductLeft[i] * (in[(z * n + y) * n + before(x, n)] - t);
  gain += conductRight[i] * (in[(z * n + y) * n + after(x, n)] - t);
  gain += conductAbove[i] * (in[(z * n + before(y, n)) * n + x] - t);
  gain += conductBelow[i] * (in[(z * n + after(y, n)) * n + x] - t);
  gain += conductFront[i] * (in[(before(z, n) * n + y) * n + x] - t);
  gain += conductBack[i] * (in[(after(z, n) * n + y) * n + x] - t);
  out[i] = t + (gain - perfusion[i] * (t - blood) + source[i]) / capacity[i];
}
