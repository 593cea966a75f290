// A tridiagonal system by cyclic reduction, in place: lower * x[i - 1] + diagonal * x[i] + upper *
// x[i + 1] = right, for n = 2^k - 1 unknowns. One that has no neighbour has a coefficient of zero.

// Takes the neighbours, `stride` away, out of every second equation that is left.
kernel void reduce(uint n, uint stride, global float *lower, global float *diagonal,
                   global float *upper, global float *right) {
  const uint i = 2 * stride * (get_global_id(0) + 1) - 1;
  if (i >= n)
    return;
  const uint before = i - stride, after = i + stride;
  const float a = -lower[i] / diagonal[before], c = -upper[i] / diagonal[after];
  lower[i] = a * lower[before];
  upper[i] = c * upper[after];
  diagonal[i] += a * upper[before] + c * lower[after];
  right[i] += a * right[before] + c * right[after];
}

// Those that were taken out last follow from their neighbours, which are known.
kernel void substitute(uint n, uint stride, global const float *lower, global const float *diagonal,
                       global const float *upper, global const float *right, global float *x) {
  const uint i = stride * (2 * get_global_id(0) + 1) - 1;
  if (i >= n)
    return;
  const float before = i >= stride ? x[i - stride] : 0.0f;
  const float after = i + stride < n ? x[i + stride] : 0.0f;
  x[i] = (right[i] - lower[i] * before - upper[i] * after) / diagonal[i];
}
