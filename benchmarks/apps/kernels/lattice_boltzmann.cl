// A fluid by the lattice-Boltzmann method on a periodic D3Q19 lattice: 19 populations a cell, each
// moving by its own step (x, y and z from -1 to 1), that relax towards equilibrium (Bhatnagar, Gross
// and Krook). Population q of cell i lies at f[q * cells + i]. With -D HALF it lies there in 16 bits,
// less what it is at rest, so that these tell of what moves.

constant int stepX[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
constant int stepY[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
constant int stepZ[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};

// Populations come in pairs that move against each other: (1, 2), (3, 4) and so on.
int opposite(int q) {
  return q == 0 ? 0 : ((q - 1) ^ 1) + 1;
}

float weight(int q) {
  return q == 0 ? 1.0f / 3.0f : q < 7 ? 1.0f / 18.0f : 1.0f / 36.0f;
}

#ifdef HALF
typedef half population;
float load(int q, global const population *at) {
  return vload_half(0, at) + weight(q);
}
void store(float value, int q, global population *at) {
  vstore_half(value - weight(q), 0, at);
}
#else
typedef float population;
float load(int q, global const population *at) {
  return *at;
}
void store(float value, int q, global population *at) {
  *at = value;
}
#endif

uint moved(uint at, int step, uint n) {
  return step > 0 ? (at == n - 1 ? 0 : at + 1) : step < 0 ? (at == 0 ? n - 1 : at - 1) : at;
}

void collide(float omega, float f[19]) {
  float density = 0.0f, x = 0.0f, y = 0.0f, z = 0.0f;
  for (int q = 0; q < 19; ++q) {
    density += f[q];
    x += stepX[q] * f[q];
    y += stepY[q] * f[q];
    z += stepZ[q] * f[q];
  }
  x /= density;
  y /= density;
  z /= density;
  const float square = 1.5f * (x * x + y * y + z * z);
  for (int q = 0; q < 19; ++q) {
    const float along = 3.0f * (stepX[q] * x + stepY[q] * y + stepZ[q] * z);
    const float equilibrium = weight(q) * density * (1.0f + along + 0.5f * along * along - square);
    f[q] += omega * (equilibrium - f[q]);
  }
}

// With two buffers: a cell takes what its neighbours send, and leaves what it will send itself.
kernel void stream_collide(uint nx, uint ny, uint nz, float omega, global const population *in,
                           global population *out) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= nx || y >= ny || z >= nz)
    return;
  const uint cells = nx * ny * nz;
  float f[19];
  for (int q = 0; q < 19; ++q)
    f[q] = load(q, in + q * cells + (moved(z, -stepZ[q], nz) * ny + moved(y, -stepY[q], ny)) * nx +
                       moved(x, -stepX[q], nx));
  collide(omega, f);
  for (int q = 0; q < 19; ++q)
    store(f[q], q, out + q * cells + (z * ny + y) * nx + x);
}

// With one buffer (the "AA" pattern, P. Bailey and others, 2009), by turns. Even steps stay in the
// cell and leave each population in its opposite's place; ...
kernel void even_step(uint nx, uint ny, uint nz, float omega, global population *populations) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= nx || y >= ny || z >= nz)
    return;
  const uint cells = nx * ny * nz, i = (z * ny + y) * nx + x;
  float f[19];
  for (int q = 0; q < 19; ++q)
    f[q] = load(q, populations + q * cells + i);
  collide(omega, f);
  for (int q = 0; q < 19; ++q)
    store(f[q], q, populations + opposite(q) * cells + i);
}

// ... odd steps take from the neighbours what is on its way here, and write each population to where
// it goes. These are the same places, so no two cells use one.
kernel void odd_step(uint nx, uint ny, uint nz, float omega, global population *populations) {
  const uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= nx || y >= ny || z >= nz)
    return;
  const uint cells = nx * ny * nz;
  float f[19];
  for (int q = 0; q < 19; ++q)
    f[q] = load(q, populations + opposite(q) * cells +
                       (moved(z, -stepZ[q], nz) * ny + moved(y, -stepY[q], ny)) * nx +
                       moved(x, -stepX[q], nx));
  collide(omega, f);
  for (int q = 0; q < 19; ++q)
    store(f[q], q, populations + q * cells +
                       (moved(z, stepZ[q], nz) * ny + moved(y, stepY[q], ny)) * nx +
                       moved(x, stepX[q], nx));
}
