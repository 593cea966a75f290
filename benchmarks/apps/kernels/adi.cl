// The heat equation by alternating directions (Peaceman and Rachford, 1955): a half-step is explicit
// in one direction and implicit in the other, where each line is a tridiagonal system of its own.
// Temperatures are zero beyond the square.

// right = what the half-step's explicit direction gives: the one across the lines that come next.
kernel void explicit_columns(uint side, float r, global const float *u, global float *right) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= side || y >= side)
    return;
  const uint i = y * side + x;
  const float above = y > 0 ? u[i - side] : 0.0f;
  const float below = y < side - 1 ? u[i + side] : 0.0f;
  right[i] = (1.0f - 2.0f * r) * u[i] + r * (above + below);
}

kernel void explicit_rows(uint side, float r, global const float *u, global float *right) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= side || y >= side)
    return;
  const uint i = y * side + x;
  const float before = x > 0 ? u[i - 1] : 0.0f;
  const float after = x < side - 1 ? u[i + 1] : 0.0f;
  right[i] = (1.0f - 2.0f * r) * u[i] + r * (before + after);
}

// A line each: elimination forwards in `right`, then substitution backwards into `u`. `upper` holds
// what elimination leaves of the upper diagonal, which is the same for all lines.
kernel void solve_rows(uint side, float r, constant float *upper, global float *right,
                       global float *u) {
  const uint y = get_global_id(0);
  if (y >= side)
    return;
  global float *line = right + y * side;
  global float *result = u + y * side;
  line[0] /= 1.0f + 2.0f * r;
  for (uint k = 1; k < side; ++k)
    line[k] = (line[k] + r * line[k - 1]) / (1.0f + 2.0f * r + r * upper[k - 1]);
  float last = 0.0f;
  for (uint k = side; k-- > 0;) {
    last = line[k] - upper[k] * last;
    result[k] = last;
  }
}

kernel void solve_columns(uint side, float r, constant float *upper, global float *right,
                          global float *u) {
  const uint x = get_global_id(0);
  if (x >= side)
    return;
  right[x] /= 1.0f + 2.0f * r;
  for (uint k = 1; k < side; ++k)
    right[k * side + x] = (right[k * side + x] + r * right[(k - 1) * side + x]) /
                          (1.0f + 2.0f * r + r * upper[k - 1]);
  float last = 0.0f;
  for (uint k = side; k-- > 0;) {
    last = right[k * side + x] - upper[k] * last;
    u[k * side + x] = last;
  }
}
