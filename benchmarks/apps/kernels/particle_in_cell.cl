// Charged particles in a periodic plane of side x side cells, a cell being 1 x 1. Positions are
// multiples of 1 / GRAIN: then charges are of 1 / GRAIN^2, and their sums exact in any order.

int wrapped(int i, int side) {
  return i < 0 ? i + side : i >= side ? i - side : i;
}

// OpenCL C has no atomic addition of floats.
void add(volatile global float *sum, float x) {
  union {
    uint bits;
    float value;
  } before, after;
  do {
    before.value = *sum;
    after.value = before.value + x;
  } while (atomic_cmpxchg((volatile global uint *)sum, before.bits, after.bits) != before.bits);
}

kernel void clear(uint cells, global float *charge) {
  const uint i = get_global_id(0);
  if (i < cells)
    charge[i] = 0.0f;
}

// Each particle's charge goes to the corners of its cell.
kernel void deposit(uint particles, int side, global const float2 *position,
                    volatile global float *charge) {
  const uint i = get_global_id(0);
  if (i >= particles)
    return;
  const float2 at = position[i], corner = floor(at), part = at - corner;
  const int x = corner.x, y = corner.y;
  const int right = wrapped(x + 1, side), below = wrapped(y + 1, side);
  add(&charge[y * side + x], (1.0f - part.x) * (1.0f - part.y));
  add(&charge[y * side + right], part.x * (1.0f - part.y));
  add(&charge[below * side + x], (1.0f - part.x) * part.y);
  add(&charge[below * side + right], part.x * part.y);
}

// A step of Jacobi's method towards the potential; `mean` is what keeps the plane neutral.
kernel void relax(int side, float mean, global const float *charge, global const float *in,
                  global float *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= side || y >= side)
    return;
  const int left = wrapped(x - 1, side), right = wrapped(x + 1, side);
  const int above = wrapped(y - 1, side), below = wrapped(y + 1, side);
  out[y * side + x] = 0.25f * (in[y * side + left] + in[y * side + right] + in[above * side + x] +
                               in[below * side + x] + charge[y * side + x] - mean);
}

// The field of the cell's corners moves the particle, to a multiple of 1 / GRAIN.
kernel void push(uint particles, int side, float time, global const float *potential,
                 global float2 *position, global float2 *velocity) {
  const uint i = get_global_id(0);
  if (i >= particles)
    return;
  const float2 at = position[i];
  const int x = (int)at.x, y = (int)at.y;
  const int right = wrapped(x + 1, side), below = wrapped(y + 1, side);
  const float here = potential[y * side + x], across = potential[below * side + right];
  const float beside = potential[y * side + right], under = potential[below * side + x];
  const float2 field = 0.5f * (float2)(here + under - beside - across, here + beside - under - across);
  const float2 speed = velocity[i] + time * field;
  float2 to = rint((at + time * clamp(speed, -4.0f, 4.0f)) * GRAIN) * (1.0f / GRAIN);
  to.x = to.x < 0.0f ? to.x + side : to.x >= side ? to.x - side : to.x;
  to.y = to.y < 0.0f ? to.y + side : to.y >= side ? to.y - side : to.y;
  position[i] = to;
  velocity[i] = speed;
}
