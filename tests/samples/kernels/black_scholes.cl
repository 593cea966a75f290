typedef float REAL;

REAL normal_cdf(REAL x) { return 0.5f * erfc(-x * 0.70710678f); }

// European options, structure of arrays. One option per work-item; `rounds` volatilities are averaged.
kernel void black_scholes(global const REAL* restrict spot, global const REAL* restrict strike,
                          global const REAL* restrict years, REAL rate, REAL volatility,
                          int rounds, global REAL* restrict call, global REAL* restrict put) {
  const size_t i = get_global_id(0);
  REAL callValue = 0.0f;
  REAL putValue = 0.0f;
  for (int round = 0; round < rounds; ++round) {
    const REAL sigma = volatility + 0.001f * round;
    const REAL spread = sigma * sqrt(years[i]);
    const REAL d1 =
        (log(spot[i] / strike[i]) + (rate + 0.5f * sigma * sigma) * years[i]) / spread;
    const REAL d2 = d1 - spread;
    const REAL discounted = strike[i] * exp(-rate * years[i]);
    callValue += spot[i] * normal_cdf(d1) - discounted * normal_cdf(d2);
    putValue += discounted * normal_cdf(-d2) - spot[i] * normal_cdf(-d1);
  }
  call[i] = callValue / rounds;
  put[i] = putValue / rounds;
}
