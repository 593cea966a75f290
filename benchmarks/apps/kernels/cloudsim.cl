// Clouds as a cellular automaton: a cell holds its temperature, vapour, droplets and the speed at
// which its air rises, all mixed with the eight neighbours', lifted, and then changed into each other.

// A neighbour beyond the edge is like the cell at the edge.
float4 at(uint width, uint height, global const float4 *cells, int x, int y) {
  return cells[clamp(y, 0, (int)height - 1) * width + clamp(x, 0, (int)width - 1)];
}

kernel void clouds(uint width, uint height, float mixing, global const float4 *in,
                   global float4 *out) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  float4 self = at(width, height, in, x, y);
  float4 around = 0.0f;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0)
        around += (dx == 0 || dy == 0 ? 0.2f : 0.05f) * at(width, height, in, x + dx, y + dy);

  // What rises comes from the row below, which has the greater number.
  const float lift = clamp(self.w, 0.0f, 0.5f);
  const float4 below = at(width, height, in, x, y + 1);
  self += mixing * (around - self);
  self += lift * (below - self);

  // Vapour beyond what air of this temperature holds becomes droplets and heats the air; in dry air
  // droplets become vapour.
  const float saturation = 0.006f * exp(0.07f * self.x);
  const float excess = self.y - saturation;
  const float condensed = excess > 0.0f ? 0.5f * excess : fmax(0.1f * excess, -self.z);
  self.x += 25.0f * condensed - 0.01f * lift;
  self.y -= condensed;
  self.z = fmax(0.0f, self.z + condensed);
  // Air rises if it is warmer than around, not under the weight of droplets.
  self.w = 0.9f * self.w + 0.05f * (self.x - around.x) - 0.2f * self.z;
  out[y * width + x] = self;
}
