// Prices an Asian option by simulating the share's way, `paths` ways for each work-item.

// The counter-based generator: a bijection of 64-bit words whose bits all depend on all (splitmix64).
ulong bitsOf(ulong counter) {
  ulong z = counter * 0x9E3779B97F4A7C15UL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBUL;
  return z ^ (z >> 31);
}

// Two independent normal deviates from one counter (Box and Muller).
float2 normals(ulong counter) {
  const ulong bits = bitsOf(counter);
  const float u = ((uint)(bits >> 40) + 1) * 0x1p-24f; // (0, 1]
  const float v = (uint)(bits & 0xFFFFFF) * 0x1p-24f;
  const float radius = sqrt(-2.0f * log(u));
  return (float2)(radius * cospi(2.0f * v), radius * sinpi(2.0f * v));
}

// The option pays what the geometric mean of the prices after each of `steps` steps has above
// `strike`. `drift` and `volatility` are those of the price's logarithm in one step.
kernel void monte_carlo(ulong firstCounter, uint paths, uint steps, float start, float strike,
                        float drift, float volatility, global float *sum, global float *squares) {
  const size_t id = get_global_id(0);
  float total = 0.0f, totalSquares = 0.0f;
  for (uint path = 0; path < paths; ++path) {
    ulong counter = firstCounter + (id * paths + path) * (ulong)(steps / 2);
    float price = 0.0f, mean = 0.0f; // logarithms, of the price by `start`
    for (uint step = 0; step < steps; step += 2) {
      const float2 normal = normals(++counter);
      price += drift + volatility * normal.x;
      mean += price;
      price += drift + volatility * normal.y;
      mean += price;
    }
    const float payoff = fmax(0.0f, start * exp(mean / steps) - strike);
    total += payoff;
    totalSquares += payoff * payoff;
  }
  sum[id] = total;
  squares[id] = totalSquares;
}
