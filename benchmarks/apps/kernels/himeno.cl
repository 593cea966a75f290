// Pressure in an incompressible flow by Jacobi's method with coefficients of general curvilinear
// coordinates, after R. Himeno's benchmark: 19 points, and coefficients that differ by point. A
// field of a group lies behind the other: a[k][z][y][x].

kernel void relax(uint nx, uint ny, uint nz, float omega, global const float *a,
                  global const float *b, global const float *c, global const float *p,
                  global const float *inside, global const float *source, global float *out,
                  global float *residuals, local float *partial) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  const uint points = nx * ny * nz, row = nx, plane = nx * ny;
  const uint i = z * plane + y * row + x;
  float change = 0.0f;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {
    const float forward = a[i] * p[i + plane] + a[points + i] * p[i + row] +
                          a[2 * points + i] * p[i + 1];
    const float mixed = b[i] * (p[i + plane + row] - p[i + plane - row] - p[i - plane + row] +
                                p[i - plane - row]) +
                        b[points + i] * (p[i + row + 1] - p[i - row + 1] - p[i + row - 1] +
                                         p[i - row - 1]) +
                        b[2 * points + i] * (p[i + plane + 1] - p[i - plane + 1] -
                                             p[i + plane - 1] + p[i - plane - 1]);
    const float backward = c[i] * p[i - plane] + c[points + i] * p[i - row] +
                           c[2 * points + i] * p[i - 1];
    change = ((forward + mixed + backward + source[i]) * a[3 * points + i] - p[i]) * inside[i];
    out[i] = p[i] + omega * change;
  }

  // The squares' sum, by work-groups.
  const uint width = get_local_size(0), size = width * get_local_size(1) * get_local_size(2);
  const uint me = (get_local_id(2) * get_local_size(1) + get_local_id(1)) * width + get_local_id(0);
  partial[me] = change * change;
  for (uint reach = size / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < reach)
      partial[me] += partial[me + reach];
  }
  if (me == 0)
    residuals[(get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) +
              get_group_id(0)] = partial[0];
}
