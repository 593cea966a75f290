// Alternating directions: Thomas' algorithm along rows, then along columns, one system per item.
//@ splits rows
//@ splits columns
//@ buffer u 64*80*4 float 1
//@ buffer c 64*80*4 zero
//@ for t 0..2
//@ run rows g=80 l=8 : u c int=64 float=0.25
//@ run columns g=64 l=8 : u c int=64 int=80 float=0.25
//@ end
kernel void rows(global float* u, global float* c, int w, float r) {
  global float* line = u + get_global_id(0) * w;
  global float* scratch = c + get_global_id(0) * w;
  float b = 1 + 2 * r;
  scratch[0] = -r / b;
  line[0] = line[0] / b;
  for (int i = 1; i < w; ++i) {
    float m = 1 / (b + r * scratch[i - 1]);
    scratch[i] = -r * m;
    line[i] = (line[i] + r * line[i - 1]) * m;
  }
  for (int i = w - 2; i >= 0; --i)
    line[i] -= scratch[i] * line[i + 1];
}
kernel void columns(global float* u, global float* c, int w, int h, float r) {
  size_t x = get_global_id(0);
  float b = 1 + 2 * r;
  c[x] = -r / b;
  u[x] /= b;
  for (size_t i = 1; i < h; ++i) {
    float m = 1 / (b + r * c[(i - 1) * w + x]);
    c[i * w + x] = -r * m;
    u[i * w + x] = (u[i * w + x] + r * u[(i - 1) * w + x]) * m;
  }
  for (size_t i = h - 1; i-- > 0;)
    u[i * w + x] -= c[i * w + x] * u[(i + 1) * w + x];
}
