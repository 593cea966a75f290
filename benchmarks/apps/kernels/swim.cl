// The shallow-water equations on a torus by leap-frog steps on a staggered grid, after R. Sadourny
// (1975): velocities `u` and `v`, and `p`, how high the water stands.

// Mass fluxes, potential vorticity and energy.
kernel void fluxes(uint n, float spacing, global const float *u, global const float *v,
                   global const float *p, global float *cu, global float *cv, global float *vorticity,
                   global float *energy) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= n)
    return;
  const uint left = (x + n - 1) % n, right = (x + 1) % n;
  const uint row = y * n, above = (y + n - 1) % n * n, below = (y + 1) % n * n;
  cu[row + x] = 0.5f * (p[row + x] + p[row + left]) * u[row + x];
  cv[row + x] = 0.5f * (p[row + x] + p[above + x]) * v[row + x];
  vorticity[row + x] = 4.0f / spacing *
                       (v[row + x] - v[row + left] - u[row + x] + u[above + x]) /
                       (p[above + left] + p[above + x] + p[row + x] + p[row + left]);
  energy[row + x] = p[row + x] + 0.25f * (u[row + right] * u[row + right] + u[row + x] * u[row + x] +
                                          v[below + x] * v[below + x] + v[row + x] * v[row + x]);
}

// From the step before the last to the next one.
kernel void leap(uint n, float spacing, float time, global const float *cu, global const float *cv,
                 global const float *vorticity, global const float *energy,
                 global const float *uOld, global const float *vOld, global const float *pOld,
                 global float *uNew, global float *vNew, global float *pNew) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= n)
    return;
  const uint left = (x + n - 1) % n, right = (x + 1) % n;
  const uint row = y * n, above = (y + n - 1) % n * n, below = (y + 1) % n * n;
  uNew[row + x] = uOld[row + x] +
                  time * (0.125f * (vorticity[below + x] + vorticity[row + x]) *
                              (cv[below + x] + cv[below + left] + cv[row + left] + cv[row + x]) -
                          (energy[row + x] - energy[row + left]) / spacing);
  vNew[row + x] = vOld[row + x] -
                  time * (0.125f * (vorticity[row + right] + vorticity[row + x]) *
                              (cu[row + right] + cu[row + x] + cu[above + x] + cu[above + right]) +
                          (energy[row + x] - energy[above + x]) / spacing);
  pNew[row + x] = pOld[row + x] - time / spacing * (cu[row + right] - cu[row + x] + cv[below + x] -
                                                    cv[row + x]);
}

// Keeps even and odd steps together; what is new becomes the present.
kernel void smooth(uint n, float alpha, global const float *uNew, global const float *vNew,
                   global const float *pNew, global float *u, global float *v, global float *p,
                   global float *uOld, global float *vOld, global float *pOld) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= n)
    return;
  const uint i = y * n + x;
  uOld[i] = u[i] + alpha * (uNew[i] - 2.0f * u[i] + uOld[i]);
  vOld[i] = v[i] + alpha * (vNew[i] - 2.0f * v[i] + vOld[i]);
  pOld[i] = p[i] + alpha * (pNew[i] - 2.0f * p[i] + pOld[i]);
  u[i] = uNew[i];
  v[i] = vNew[i];
  p[i] = pNew[i];
}
