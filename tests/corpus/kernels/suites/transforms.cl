// Transforms by passes and transposes, split formats with a pitch.
//@ splits bit_reverse butterfly stockham4 fft8_rows transpose_c wht_local wht_stage ntt haar_step spectrum
//@ buffer re 1024*4 float 1
//@ buffer im 1024*4 float 2
//@ buffer xr 1024*4 zero
//@ buffer xi 1024*4 zero
//@ buffer z 64*72*8 float 3
//@ buffer zt 64*72*8 zero
//@ buffer d 1024*8 double 4
//@ buffer nt 1024*4 below:7681 5
//@ buffer nt2 1024*4 zero
//@ buffer haar 1024*4 float 6
//@ buffer haar2 1024*4 zero
//@ run bit_reverse g=1024 l=32 : re im xr xi int=10
//@ for s 0..9
//@ run butterfly g=512 l=32 : xr xi int=$s
//@ end
//@ for p 1 4 16 64 256
//@ run stockham4 g=256 l=32 : re im xr xi int=$p
//@ swap re xr
//@ swap im xi
//@ end
//@ for i 1..2
//@ run fft8_rows g=8,64 l=8,4 : z int=72
//@ run transpose_c g=64,64 l=8,8 : z zt int=72 int=72
//@ swap z zt
//@ end
//@ run wht_local g=1024 l=64 : d
//@ for s 1 2 4 8 16 32
//@ run wht_stage g=512 l=64 : d int=$s
//@ end
//@ for s 0..9
//@ run ntt g=512 l=64 : nt int=$s
//@ end
//@ run haar_step g=512 l=16 : haar haar2 int=512
//@ run haar_step g=256 l=16 : haar2 haar int=256
//@ run spectrum g=1024 l=32 : re im xr
kernel void bit_reverse(global const float* re, global const float* im, global float* xr, global float* xi, int bits) {
  uint i = get_global_id(0), r = 0;
  for (int b = 0; b < bits; ++b) r |= ((i >> b) & 1) << (bits - 1 - b);
  xr[i] = re[r]; xi[i] = im[r];
}
kernel void butterfly(global float* xr, global float* xi, int s) {
  uint i = get_global_id(0), half_ = 1u << s, k = i & (half_ - 1), a = ((i >> s) << (s + 1)) + k, b = a + half_;
  float f = (float)k / half_, c = 1 - f * f, d = -f;
  float tr = xr[b] * c - xi[b] * d, ti = xr[b] * d + xi[b] * c;
  xr[b] = xr[a] - tr; xi[b] = xi[a] - ti; xr[a] += tr; xi[a] += ti;
}
kernel void stockham4(global const float* re, global const float* im, global float* xr, global float* xi, int p) {
  int i = get_global_id(0), t = get_global_size(0), k = i & (p - 1), j = ((i - k) << 2) + k;
  float a[4], b[4];
  for (int q = 0; q < 4; ++q) { a[q] = re[i + q * t]; b[q] = im[i + q * t] * (1 + k * 0.01f); }
  for (int q = 0; q < 4; ++q) { xr[j + q * p] = a[q] + b[(q + 1) & 3]; xi[j + q * p] = b[q] - a[(q + 3) & 3]; }
}
kernel void fft8_rows(global float2* z, int pitch) {
  int c = get_global_id(0), r = get_global_id(1);
  float2 v[8];
  for (int i = 0; i < 8; ++i) v[i] = z[r * pitch + c + i * 8];
  for (int s = 1; s < 8; s <<= 1)
    for (int i = 0; i < 8; ++i)
      if (!(i & s)) { float2 t = v[i | s]; v[i | s] = v[i] - t; v[i] += t; }
  for (int i = 0; i < 8; ++i) z[r * pitch + c + i * 8] = v[i];
}
kernel void transpose_c(global const float2* a, global float2* b, int pa, int pb) {
  local float2 t[8][9];
  int lx = get_local_id(0), ly = get_local_id(1);
  t[ly][lx] = a[get_global_id(1) * pa + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[(get_group_id(0) * 8 + ly) * pb + get_group_id(1) * 8 + lx] = t[lx][ly];
}
kernel void wht_local(global double* d) {
  local double t[64];
  int l = get_local_id(0);
  t[l] = d[get_global_id(0)];
  for (int s = 1; s < 64; s <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    double a = t[l], b = t[l ^ s];
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = l & s ? b - a : a + b;
  }
  d[get_global_id(0)] = t[l];
}
kernel void wht_stage(global double* d, int s) {
  int i = get_global_id(0), a = 2 * s * (i / s) + i % s;
  double x = d[a], y = d[a + s];
  d[a] = x + y; d[a + s] = x - y;
}
kernel void ntt(global uint* a, int s) {
  uint i = get_global_id(0), h = 1u << s, j = (i & ~(h - 1)) << 1 | (i & (h - 1));
  ulong w = (17 * (i & (h - 1)) + 1) % 7681;
  uint u = a[j], v = (uint)(a[j | h] * w % 7681);
  a[j] = (u + v) % 7681; a[j | h] = (u + 7681 - v) % 7681;
}
kernel void haar_step(global const float* in, global float* out, int half_) {
  int i = get_global_id(0);
  float a = in[2 * i], b = in[2 * i + 1];
  out[i] = (a + b) * 0.5f; out[half_ + i] = (a - b) * 0.5f;
}
kernel void spectrum(global const float* re, global const float* im, global float* p) {
  int i = get_global_id(0), n = get_global_size(0), m = (n - i) & (n - 1);
  p[i] = re[i] * re[m] + im[i] * im[m];
}
