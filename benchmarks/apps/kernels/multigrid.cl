// Poisson's equation by multigrid: what one level's V is made of. The grid's spacing is part of the
// right side `f`; between the outermost points and those beyond them, half a step away, all is zero.
float neighbours(uint side, global const float *u) {
  const uint x = get_global_id(0), y = get_global_id(1), i = y * side + x;
  return (x > 0 ? u[i - 1] : -u[i]) + (x + 1 < side ? u[i + 1] : -u[i]) +
         (y > 0 ? u[i - side] : -u[i]) + (y + 1 < side ? u[i + side] : -u[i]);
}

// A sweep of damped Jacobi relaxation.
kernel void smooth(uint side, float weight, global const float *f, global const float *u,
                   global float *to) {
  const uint i = get_global_id(1) * side + get_global_id(0);
  to[i] = u[i] + weight * (0.25f * (f[i] + neighbours(side, u)) - u[i]);
}

// … the first, from zero.
kernel void begin(uint side, float weight, global const float *f, global float *u) {
  const uint i = get_global_id(1) * side + get_global_id(0);
  u[i] = weight * 0.25f * f[i];
}

kernel void residual(uint side, global const float *f, global const float *u, global float *r) {
  const uint i = get_global_id(1) * side + get_global_id(0);
  r[i] = f[i] - (4 * u[i] - neighbours(side, u));
}

// The right side of the level below, of half as many points a side.
kernel void coarsen(uint side, global const float *fine, global float *f) {
  const uint x = get_global_id(0), y = get_global_id(1), i = 4 * y * side + 2 * x;
  f[y * side + x] = fine[i] + fine[i + 1] + fine[i + 2 * side] + fine[i + 2 * side + 1];
}

// Adds what the level below found, between its points by their distance.
kernel void correct(uint side, global const float *coarse, global float *u) {
  const int x = get_global_id(0), y = get_global_id(1), half_side = side / 2;
  const int nx = x / 2, ny = y / 2;
  const int fx = nx + 2 * (x % 2) - 1, fy = ny + 2 * (y % 2) - 1;
  const bool has_x = fx >= 0 && fx < half_side, has_y = fy >= 0 && fy < half_side;
  const float near = coarse[ny * half_side + nx];
  const float beside = has_x ? coarse[ny * half_side + fx] : 0;
  const float above = has_y ? coarse[fy * half_side + nx] : 0;
  const float across = has_x && has_y ? coarse[fy * half_side + fx] : 0;
  u[y * (int)side + x] += 0.5625f * near + 0.1875f * (beside + above) + 0.0625f * across;
}
