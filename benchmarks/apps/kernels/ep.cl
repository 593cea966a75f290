// Pairs of Gaussian deviates by Marsaglia's polar method, as in the NAS parallel benchmark EP.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define MODULUS_MASK ((1UL << 46) - 1)
#define MULTIPLIER 1220703125UL // 5^13
#define SEED 271828183UL

// Number `index` of the sequence that `SEED` begins.
ulong skipTo(ulong index) {
  ulong x = SEED;
  ulong factor = MULTIPLIER;
  for (; index > 0; index >>= 1) {
    if (index & 1)
      x = x * factor & MODULUS_MASK;
    factor = factor * factor & MODULUS_MASK;
  }
  return x;
}

double nextUniform(ulong *x) {
  *x = *x * MULTIPLIER & MODULUS_MASK;
  return (double)*x * 0x1p-46;
}

// Work-item i draws pairs [i * pairs, (i + 1) * pairs): their sums, and how many lie in each of ten
// square rings around the origin.
kernel void ep(uint pairs, global double *sumX, global double *sumY, global uint *rings) {
  const size_t id = get_global_id(0);
  ulong state = skipTo(2 * pairs * (ulong)id);
  double x = 0.0, y = 0.0;
  uint count[10];
  for (int ring = 0; ring < 10; ++ring)
    count[ring] = 0;
  for (uint k = 0; k < pairs; ++k) {
    const double u = 2.0 * nextUniform(&state) - 1.0;
    const double v = 2.0 * nextUniform(&state) - 1.0;
    const double square = u * u + v * v;
    if (square <= 1.0) {
      const double scale = sqrt(-2.0 * log(square) / square);
      const double gaussX = u * scale, gaussY = v * scale;
      x += gaussX;
      y += gaussY;
      ++count[(int)fmax(fabs(gaussX), fabs(gaussY))];
    }
  }
  sumX[id] = x;
  sumY[id] = y;
  for (int ring = 0; ring < 10; ++ring)
    rings[id * 10 + ring] = count[ring];
}
