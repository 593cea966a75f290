// Radix-2 passes (Stockham), bit reversal, and a Walsh-Hadamard transform in place.
//@ splits stockham
//@ buffer a 1024*8 float 1
//@ buffer b 1024*8 zero
//@ buffer r 1024*8 zero
//@ buffer h 1024*4 random 2
//@ for p 1 2 4 8 16 32 64 128 256 512
//@ run stockham g=512 l=32 : a b uint=$p
//@ run hadamard g=512 l=16 : h uint=$p
//@ swap a b
//@ end
//@ run reverse_bits g=1024 l=64 : a r int=10
kernel void stockham(global const float2* in, global float2* out, uint p) {
  uint i = get_global_id(0), t = get_global_size(0);
  uint k = i & (p - 1);
  float2 u0 = in[i], u1 = in[i + t];
  float angle = -3.14159265f * k / p, c = cos(angle), s = sin(angle);
  u1 = (float2)(u1.x * c - u1.y * s, u1.x * s + u1.y * c);
  uint j = (i << 1) - k;
  out[j] = u0 + u1;
  out[j + p] = u0 - u1;
}
kernel void hadamard(global int* h, uint p) {
  uint i = get_global_id(0);
  uint j = (i / p) * 2 * p + i % p;
  int a = h[j], b = h[j + p];
  h[j] = a + b;
  h[j + p] = a - b;
}
kernel void reverse_bits(global const float2* in, global float2* out, int bits) {
  uint i = get_global_id(0), r = 0;
  for (int b = 0; b < bits; ++b)
    r |= ((i >> b) & 1) << (bits - 1 - b);
  out[r] = in[i];
}
