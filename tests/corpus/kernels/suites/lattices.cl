// Lattices with odd layouts: checkerboards, patterns in place, blocks of 2.5 dimensions, pitched grids.
//@ splits stencil25 redblack lbm_push lbm_pull lbm_aa_even lbm_aa_odd su3_mul su3_shift fdtd_h fdtd_e ising curl tile_star wave soa_aos halo_pack halo_wrap
//@ buffer phi 32*32*32*4 float 1
//@ buffer phi2 32*32*32*4 zero
//@ buffer eo 2*32*32*16*4 float 2
//@ buffer f 9*64*64*4 float 3
//@ buffer g 9*64*64*4 zero
//@ buffer su3 1024*72 float 4
//@ buffer v 1024*24 float 5
//@ buffer w 1024*24 zero
//@ buffer ex 65*72*4 float 6
//@ buffer hz 65*72*4 float 7
//@ buffer spin 64*64 random 8
//@ buffer u3 3*48*48*4 float 9
//@ buffer u4 3*48*48*4 zero
//@ buffer tri 4096*4 float 10
//@ buffer acc 4096*12 float 11
//@ for i 1..3
//@ run stencil25 g=32,32 l=16,8 : phi phi2 int=32 int=32 int=32
//@ swap phi phi2
//@ end
//@ for i 0 1 0 1
//@ run redblack g=16,32,32 l=16,4,1 : eo int=$i
//@ end
//@ run lbm_push g=64,64 l=16,4 : f g int=64 int=64
//@ run lbm_pull g=64,64 l=16,4 : g f int=64 int=64
//@ run lbm_aa_even g=64,64 l=16,4 : f int=64
//@ run lbm_aa_odd g=64,64 l=16,4 : f int=64
//@ run su3_mul g=1024 l=64 : su3 v w
//@ run su3_shift g=1024 l=64 : su3 w v int=1024
//@ for i 1..3
//@ run fdtd_h g=64,64 l=16,16 : ex hz int=72
//@ run fdtd_e g=64,63 o=0,1 l=16,9 : ex hz int=72
//@ end
//@ for i 0 1 0 1
//@ run ising g=32,64 l=8,8 : spin int=$i int=7
//@ end
//@ run curl g=46,46 o=1,1 l=23,2 : u3 u4 int=48
//@ run tile_star g=64,64 l=16,16 : tri phi2 int=64
//@ run wave g=62,62 o=1,1 l=31,31 : tri phi phi2 int=64
//@ run soa_aos g=4096 l=64 : acc phi2
//@ run halo_pack g=64,4 l=16,1 : tri g int=64
//@ run halo_wrap g=64,4 l=16,1 : tri int=64
kernel void stencil25(global const float* a, global float* b, int nx, int ny, int nz) {
  local float t[10][18];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0) + 1, ly = get_local_id(1) + 1;
  int p = nx * ny, at = y * nx + x;
  float back = 0, mid = a[at], front = a[at + p];
  for (int z = 1; z < nz - 1; ++z) {
    back = mid; mid = front; front = a[at + (z + 1) * p];
    barrier(CLK_LOCAL_MEM_FENCE);
    t[ly][lx] = mid;
    if (lx == 1) t[ly][0] = x > 0 ? a[z * p + at - 1] : 0;
    if (lx == 16) t[ly][17] = x < nx - 1 ? a[z * p + at + 1] : 0;
    if (ly == 1) t[0][lx] = y > 0 ? a[z * p + at - nx] : 0;
    if (ly == 8) t[9][lx] = y < ny - 1 ? a[z * p + at + nx] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    b[z * p + at] = (t[ly][lx - 1] + t[ly][lx + 1] + t[ly - 1][lx] + t[ly + 1][lx] + back + front) / 6 - mid;
  }
}
// Even points in the first half, odd ones in the second, 16 in a row.
kernel void redblack(global float* eo, int odd) {
  int i = get_global_id(0), y = get_global_id(1), z = get_global_id(2), half_ = 32 * 32 * 16;
  global float* own = eo + (odd ? half_ : 0);
  global const float* other = eo + (odd ? 0 : half_);
  int at = (z * 32 + y) * 16 + i, s = ((y + z + odd) & 1) ? 1 : -1;
  int n = i + s;
  float v = other[at] + (n >= 0 && n < 16 ? other[at + s] : 0);
  if (y > 0) v += other[at - 16];
  if (y < 31) v += other[at + 16];
  if (z > 0) v += other[at - 512];
  if (z < 31) v += other[at + 512];
  own[at] = 0.8f * own[at] + 0.03f * v;
}
constant int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
kernel void lbm_push(global const float* f, global float* g, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  for (int q = 0; q < 9; ++q) g[q * w * h + ((y + cy[q] + h) % h) * w + (x + cx[q] + w) % w] = f[(q * h + y) * w + x] * 0.9f;
}
kernel void lbm_pull(global const float* g, global float* f, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1); float r = 0, v[9];
  for (int q = 0; q < 9; ++q) r += v[q] = g[q * w * h + ((y - cy[q] + h) & (h - 1)) * w + ((x - cx[q] + w) & (w - 1))];
  for (int q = 0; q < 9; ++q) f[(q * h + y) * w + x] = v[q] + 0.1f * (r / 9 - v[q]);
}
kernel void lbm_aa_even(global float* f, int n) {
  int at = get_global_id(1) * n + get_global_id(0);
  for (int q = 1; q < 9; q += 2) { float a = f[q * n * n + at], b = f[(q + 1) * n * n + at]; f[q * n * n + at] = b * 0.99f; f[(q + 1) * n * n + at] = a * 0.98f; }
}
kernel void lbm_aa_odd(global float* f, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  for (int q = 1; q < 9; ++q) {
    int at = ((y + cy[q] + n) % n) * n + (x + cx[q] + n) % n;
    f[q * n * n + at] = f[q * n * n + at] * 0.97f + 0.01f;
  }
}
typedef struct { float2 m[3][3]; } SU3;
typedef struct { float2 c[3]; } Vec3c;
float2 cmul(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
kernel void su3_mul(global const SU3* u, global const Vec3c* v, global Vec3c* w) {
  int i = get_global_id(0); Vec3c o, in = v[i];
  for (int r = 0; r < 3; ++r) { o.c[r] = 0; for (int c = 0; c < 3; ++c) o.c[r] += cmul(u[i].m[r][c], in.c[c]); }
  w[i] = o;
}
kernel void su3_shift(global const SU3* u, global const Vec3c* v, global Vec3c* w, int n) {
  int i = get_global_id(0), j = i + 32 < n ? i + 32 : i + 32 - n;
  SU3 m = u[j];
  for (int r = 0; r < 3; ++r) { float2 s = 0; for (int c = 0; c < 3; ++c) s += cmul(m.m[c][r], v[j].c[c]); w[i].c[r] += s; }
}
kernel void fdtd_h(global const float* e, global float* h, int p) {
  int x = get_global_id(0), y = get_global_id(1);
  h[y * p + x] -= 0.5f * (e[(y + 1) * p + x] - e[y * p + x]);
}
kernel void fdtd_e(global float* e, global const float* h, int p) {
  int x = get_global_id(0), y = get_global_id(1);
  e[y * p + x] -= 0.5f * (h[y * p + x] - h[(y - 1) * p + x]);
}
kernel void ising(global char* s, int colour, uint seed) {
  int x = 2 * get_global_id(0), y = get_global_id(1);
  x += (y + colour) & 1;
  int n = s[y * 64 + ((x + 1) & 63)] + s[y * 64 + ((x + 63) & 63)] + s[((y + 1) & 63) * 64 + x] + s[((y + 63) & 63) * 64 + x];
  uint r = (x * 73856093u ^ y * 19349663u ^ seed * 83492791u) * 2654435761u;
  if ((int)(r >> 24) < 128 + n) s[y * 64 + x] = -s[y * 64 + x];
}
kernel void curl(global const float* u, global float* c, int n) {
  int x = get_global_id(0), y = get_global_id(1), at = y * n + x, p = n * n;
  c[at] = u[2 * p + at + n] - u[2 * p + at - n];
  c[p + at] = u[2 * p + at - 1] - u[2 * p + at + 1];
  c[2 * p + at] = u[p + at + 1] - u[p + at - 1] - u[at + n] + u[at - n];
}
kernel void tile_star(global const float* a, global float* b, int n) {
  local float t[20][20];
  int lx = get_local_id(0), ly = get_local_id(1), bx = get_group_id(0) * 16 - 2, by = get_group_id(1) * 16 - 2;
  for (int j = ly; j < 20; j += 16)
    for (int i = lx; i < 20; i += 16) {
      int x = bx + i, y = by + j;
      t[j][i] = x >= 0 && x < n && y >= 0 && y < n ? a[y * n + x] : 0.0f;
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  float s = 0;
  for (int k = -2; k <= 2; ++k) s += t[ly + 2 + k][lx + 2] - t[ly + 2][lx + 2 + k] * 0.5f;
  b[get_global_id(1) * n + get_global_id(0)] = s;
}
kernel void wave(global float* next, global const float* now, global const float* before, int n) {
  size_t x = get_global_id(0), y = get_global_id(1), i = y * n + x;
  next[i] = 2 * now[i] - before[i] + 0.1f * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n] - 4 * now[i]);
}
kernel void soa_aos(global const float* a, global float* b) {
  int i = get_global_id(0), n = get_global_size(0);
  float3 v = vload3(i, a);
  b[i] = v.x; b[i + n] = v.y; b[i + 2 * n] = v.z;
}
kernel void halo_pack(global const float* a, global float* h, int n) {
  int i = get_global_id(0);
  switch (get_global_id(1)) {
    case 0: h[i] = a[n + i]; break;
    case 1: h[n + i] = a[(n - 2) * n + i]; break;
    case 2: h[2 * n + i] = a[i * n + 1]; break;
    case 3: h[3 * n + i] = a[i * n + n - 2]; break;
  }
}
kernel void halo_wrap(global float* a, int n) {
  int i = get_global_id(0), side = get_global_id(1);
  if (i == 0 || i == n - 1) return;
  if (side == 0) a[i] = a[(n - 2) * n + i];
  if (side == 1) a[(n - 1) * n + i] = a[n + i];
  if (side == 2) a[i * n] = a[i * n + n - 2];
  if (side == 3) a[i * n + n - 1] = a[i * n + 1];
}
