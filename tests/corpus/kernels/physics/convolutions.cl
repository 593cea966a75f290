// Clamped, mirrored, wrapped and guarded borders; separable with a local line; a stencil in 3-D.
//@ splits clamped
//@ splits mirrored
//@ splits wrapped
//@ splits guarded
//@ splits stencil3d
//@ buffer a 64*48*4 float 1
//@ buffer b 64*48*4 zero
//@ buffer c 64*48*4 zero
//@ buffer k 25*4 float 2
//@ buffer v 16*16*12*4 float 3
//@ buffer w 16*16*12*4 zero
//@ run clamped g=64,48 l=8,8 : a b k int=64 int=48
//@ run mirrored g=64,48 l=8,8 : b c k int=64 int=48
//@ run wrapped g=64,48 l=8,8 : c a k uint=64 uint=48
//@ run guarded g=64,48 : a b k int=64 int=48
//@ run stencil3d g=16,16,12 l=4,4,2 : v w int=1
//@ run stencil3d g=16,16,12 l=4,4,2 : w v int=2
kernel void clamped(global const float* a, global float* b, constant float* k, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      sum += a[clamp(y + j, 0, h - 1) * w + clamp(x + i, 0, w - 1)] * k[(j + 2) * 5 + i + 2];
  b[y * w + x] = sum;
}
int mirror(int i, int n) {
  if (i < 0)
    i = -i - 1;
  return i >= n ? 2 * n - 1 - i : i;
}
kernel void mirrored(global const float* a, global float* b, constant float* k, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int j = -2; j <= 2; ++j)
    for (int i = -2; i <= 2; ++i)
      sum += a[mirror(y + j, h) * w + mirror(x + i, w)] * k[(j + 2) * 5 + i + 2];
  b[y * w + x] = sum;
}
kernel void wrapped(global const float* a, global float* b, constant float* k, uint w, uint h) {
  uint x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (uint j = 0; j < 5; ++j)
    for (uint i = 0; i < 5; ++i)
      sum += a[((y + j + h - 2) % h) * w + ((x + i - 2) & (w - 1))] * k[j * 5 + i];
  b[y * w + x] = sum;
}
kernel void guarded(global const float* a, global float* b, constant float* k, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int j = max(0, y - 2); j <= min(h - 1, y + 2); ++j)
    for (int i = -2; i <= 2; ++i) {
      if (x + i < 0)
        continue;
      if (x + i >= w)
        break;
      sum += a[j * w + x + i] * k[(j - y + 2) * 5 + i + 2];
    }
  if (x >= 2 && x < w - 2 || y == 7)
    b[y * w + x] = sum;
}
kernel void stencil3d(global const float* v, global float* w, int r) {
  const int nx = get_global_size(0), ny = get_global_size(1), nz = get_global_size(2);
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  int i = (z * ny + y) * nx + x;
  if (x < r || x >= nx - r || y < r || y >= ny - r || z < r || z >= nz - r) {
    w[i] = v[i];
    return;
  }
  w[i] = -6 * v[i] + v[i - r] + v[i + r] + v[i - r * nx] + v[i + r * nx] + v[i - r * nx * ny] +
         v[i + r * nx * ny];
}
