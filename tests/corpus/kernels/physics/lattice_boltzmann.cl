// D2Q9 in planes (structure of arrays): collide, then pull from neighbours across periodic borders.
//@ splits collide
//@ splits stream
//@ buffer f 9*64*48*4 float 1
//@ buffer g 9*64*48*4 zero
//@ buffer mask 64*48 random 2
//@ for t 0..3
//@ run collide g=64,48 l=16,4 : f mask float=0.6 int=64 int=48
//@ run stream g=64,48 l=8,8 : f g int=64 int=48
//@ swap f g
//@ end
constant int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constant int dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constant float weight[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
#define F(k, x, y) f[((k) * h + (y)) * w + (x)]
kernel void collide(global float* f, global const uchar* mask, float omega, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if ((mask[y * w + x] & 15) == 3) {
    float swapped = F(1, x, y);
    F(1, x, y) = F(3, x, y);
    F(3, x, y) = swapped;
    return;
  }
  float rho = 0, ux = 0, uy = 0;
  for (int k = 0; k < 9; ++k) {
    float v = F(k, x, y);
    rho += v;
    ux += dx[k] * v;
    uy += dy[k] * v;
  }
  rho = fabs(rho) + 1.0f;
  for (int k = 0; k < 9; ++k) {
    float cu = 3.0f * (dx[k] * ux + dy[k] * uy) / rho;
    float eq = weight[k] * rho * (1.0f + cu + 0.5f * cu * cu);
    F(k, x, y) += omega * (eq - F(k, x, y));
  }
}
kernel void stream(global const float* restrict f, global float* restrict g, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  for (int k = 0; k < 9; ++k) {
    int sx = (x - dx[k] + w) % w;
    int sy = y - dy[k];
    sy = sy < 0 ? h - 1 : sy == h ? 0 : sy;
    g[(k * h + y) * w + x] = f[(k * h + sy) * w + sx];
  }
}
