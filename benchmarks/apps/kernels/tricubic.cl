// Moves the contents of a cube by a fraction of a cell that differs by cell, with tricubic
// interpolation: 64 points. The cube goes on at its opposite side.

// Cubic Lagrange polynomials for points at -1, 0, 1 and 2.
float4 weights(float t) {
  return (float4)(t * (t - 1.0f) * (t - 2.0f) * (-1.0f / 6.0f),
                  (t + 1.0f) * (t - 1.0f) * (t - 2.0f) * 0.5f,
                  (t + 1.0f) * t * (t - 2.0f) * -0.5f, (t + 1.0f) * t * (t - 1.0f) * (1.0f / 6.0f));
}

kernel void tricubic(uint n, global const float *shiftX, global const float *shiftY,
                     global const float *shiftZ, global const float *in, global float *out) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= n || y >= n || z >= n)
    return;
  const uint i = (z * n + y) * n + x;
  const float4 alongX = weights(shiftX[i]), alongY = weights(shiftY[i]), alongZ = weights(shiftZ[i]);
  const float ofY[4] = {alongY.x, alongY.y, alongY.z, alongY.w};
  const float ofZ[4] = {alongZ.x, alongZ.y, alongZ.z, alongZ.w};
  const uint x0 = (x + n - 1) % n, x2 = (x + 1) % n, x3 = (x + 2) % n;
  float sum = 0.0f;
  for (uint dz = 0; dz < 4; ++dz)
    for (uint dy = 0; dy < 4; ++dy) {
      const uint row = ((z + n + dz - 1) % n * n + (y + n + dy - 1) % n) * n;
      sum += ofZ[dz] * ofY[dy] *
             dot(alongX, (float4)(in[row + x0], in[row + x], in[row + x2], in[row + x3]));
    }
  out[i] = sum;
}
