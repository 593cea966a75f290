// One pass of Stockham's Fourier transform, radix 2: with `length` from 1 on, doubled by each pass,
// spectra of `length` points become spectra of twice as many, in order.
kernel void fft_pass(uint n, uint length, global const float2 *in, global float2 *out) {
  const uint i = get_global_id(0);
  const uint k = i & (length - 1);
  const float angle = -(float)k / length;
  const float2 turn = (float2)(cospi(angle), sinpi(angle));
  const float2 even = in[i], other = in[i + n / 2];
  const float2 odd =
      (float2)(turn.x * other.x - turn.y * other.y, turn.x * other.y + turn.y * other.x);
  const uint to = 2 * i - k;
  out[to] = even + odd;
  out[to + length] = even - odd;
}
