// Codecs and image filters on buffers.
//@ splits yuv420 dct8 zigzag nonzero bc1_encode demosaic median3 halve bilinear row_sums transpose_uint row_sums_uint histogram apply_lut crc_rows box_columns premultiply flip_rows yuv_back
//@ splits_never make_lut
//@ buffer rgb 96*64*3 random 1
//@ buffer yp 96*64 zero
//@ buffer up 48*32 zero
//@ buffer vp 48*32 zero
//@ buffer coef 96*64*2 zero
//@ buffer zz 96*64*2 zero
//@ buffer bc1 24*16*8 zero
//@ buffer rgba 96*64*4 random 2
//@ buffer bayer 96*64*2 random 3
//@ buffer out3 96*64*3*2 zero
//@ buffer med 96*64 zero
//@ buffer small 48*32*4 zero
//@ buffer big 192*128*4 zero
//@ buffer sums 96*64*4 zero
//@ buffer sumsT 64*96*4 zero
//@ buffer cnt 64*4 zero
//@ buffer hist 256*4 zero
//@ buffer lut 256 zero
//@ buffer crc 64*4 zero
//@ run yuv420 g=48,32 l=8,4 : rgb yp up vp int=96
//@ run dct8 g=96,64 l=8,8 : yp coef int=96
//@ run zigzag g=96*64 l=64 : coef zz
//@ run nonzero g=64 l=4 : zz cnt int=96
//@ run bc1_encode g=24,16 l=8,4 : rgba bc1 int=24
//@ run demosaic g=96,64 l=16,4 : bayer out3 int=96 int=64
//@ run median3 g=96,64 l=16,8 : yp med int=96 int=64
//@ run halve g=48,32 l=16,2 : rgba small int=48
//@ run bilinear g=192,128 l=16,8 : rgba big int=96 int=64 int=192 int=128
//@ run row_sums g=64 l=8 : yp sums int=96
//@ run transpose_uint g=96,64 l=16,16 : sums sumsT int=96 int=64
//@ run row_sums_uint g=96 l=8 : sumsT int=64
//@ run histogram g=96*64 l=64 : yp hist
//@ run make_lut g=256 l=256 : hist lut int=6144
//@ run apply_lut g=1536 l=64 : lut yp
//@ run crc_rows g=64 l=8 : rgb crc int=288
//@ run box_columns g=96 l=16 : yp med int=96 int=64 int=3
//@ run premultiply g=1536 l=32 : rgba
//@ run flip_rows g=96,32 l=16,4 : rgba int=96 int=64
//@ run yuv_back g=96,64 l=16,8 : yp up vp rgb int=96
kernel void yuv420(global const uchar* rgb, global uchar* y, global uchar* u, global uchar* v, int w) {
  int x2 = get_global_id(0), y2 = get_global_id(1);
  int3 sum = 0;
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i) {
      int x = 2 * x2 + i, yy = 2 * y2 + j;
      int3 p = convert_int3(vload3(yy * w + x, rgb));
      y[yy * w + x] = (uchar)((66 * p.x + 129 * p.y + 25 * p.z + 128 + 4096) >> 8);
      sum += p;
    }
  u[y2 * (w / 2) + x2] = (uchar)((-38 * sum.x - 74 * sum.y + 112 * sum.z + 512 + 131072) >> 10);
  v[y2 * (w / 2) + x2] = (uchar)((112 * sum.x - 94 * sum.y - 18 * sum.z + 512 + 131072) >> 10);
}
constant short basis[8][8] = {
  {91, 91, 91, 91, 91, 91, 91, 91}, {126, 106, 71, 25, -25, -71, -106, -126}, {118, 49, -49, -118, -118, -49, 49, 118},
  {106, -25, -126, -71, 71, 126, 25, -106}, {91, -91, -91, 91, 91, -91, -91, 91}, {71, -126, 25, 106, -106, -25, 126, -71},
  {49, -118, 118, -49, -49, 118, -118, 49}, {25, -71, 106, -126, 126, -106, 71, -25}};
kernel __attribute__((reqd_work_group_size(8, 8, 1))) void dct8(global const uchar* in, global short* out, int pitch) {
  local int a[8][8], b[8][8];
  int x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0), gy = get_global_id(1);
  a[y][x] = (int)in[gy * pitch + gx] - 128;
  barrier(CLK_LOCAL_MEM_FENCE);
  int s = 0;
  for (int k = 0; k < 8; ++k) s += basis[x][k] * a[y][k];
  b[y][x] = s >> 8;
  barrier(CLK_LOCAL_MEM_FENCE);
  s = 0;
  for (int k = 0; k < 8; ++k) s += basis[y][k] * b[k][x];
  // Blocks one behind the other.
  int block = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  out[block * 64 + y * 8 + x] = (short)(s >> 8);
}
constant uchar order[64] = {0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
  13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53,
  60, 61, 54, 47, 55, 62, 63};
kernel void zigzag(global const short* in, global short* out) {
  size_t i = get_global_id(0), b = i / 64, k = i % 64;
  out[b * 64 + k] = in[b * 64 + order[k]] / (short)(1 + k / 4);
}
kernel void nonzero(global const short* c, global uint* count, int per) {
  int r = get_global_id(0), n = 0, run = 0;
  for (int i = 0; i < per; ++i) {
    short v = c[r * per + i];
    if (v == 0) { if (++run == 16) break; continue; }
    run = 0; n += 32 - clz((uint)abs(v));
  }
  count[r] = n;
}
kernel void bc1_encode(global const uchar4* px, global ulong* out, int bw) {
  int bx = get_global_id(0), by = get_global_id(1);
  uchar4 lo = 255, hi = 0, p[16];
  for (int i = 0; i < 16; ++i) { p[i] = px[(by * 4 + i / 4) * bw * 4 + bx * 4 + i % 4]; lo = min(lo, p[i]); hi = max(hi, p[i]); }
  ushort c0 = (hi.x >> 3) << 11 | (hi.y >> 2) << 5 | hi.z >> 3, c1 = (lo.x >> 3) << 11 | (lo.y >> 2) << 5 | lo.z >> 3;
  uint bits = 0;
  int range = max(1, (int)hi.x + hi.y + hi.z - lo.x - lo.y - lo.z);
  for (int i = 0; i < 16; ++i) bits |= (uint)((((int)p[i].x + p[i].y + p[i].z - lo.x - lo.y - lo.z) * 3 / range) & 3) << (2 * i);
  out[by * bw + bx] = (ulong)bits << 32 | (ulong)c1 << 16 | c0;
}
int px(global const ushort* b, int x, int y, int w, int h) { return b[clamp(y, 0, h - 1) * w + clamp(x, 0, w - 1)]; }
kernel void demosaic(global const ushort* b, global ushort* out, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  int c = px(b, x, y, w, h), hv = (px(b, x - 1, y, w, h) + px(b, x + 1, y, w, h)) >> 1,
      vv = (px(b, x, y - 1, w, h) + px(b, x, y + 1, w, h)) >> 1;
  int r, g, bl;
  switch ((y & 1) << 1 | (x & 1)) {
    case 0: r = c; g = (hv + vv) >> 1; bl = vv; break;
    case 1: r = hv; g = c; bl = vv; break;
    case 2: r = vv; g = c; bl = hv; break;
    default: r = hv; g = vv; bl = c;
  }
  vstore3((ushort3)(r, g, bl), y * w + x, out);
}
kernel void median3(global const uchar* in, global uchar* out, int w, int h) {
  local uchar t[10][18];
  int lx = get_local_id(0), ly = get_local_id(1), x0 = get_group_id(0) * 16 - 1, y0 = get_group_id(1) * 8 - 1;
  for (int i = ly * 16 + lx; i < 180; i += 128) {
    int x = clamp(x0 + i % 18, 0, w - 1), y = clamp(y0 + i / 18, 0, h - 1);
    t[i / 18][i % 18] = in[y * w + x];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uchar v[9];
  for (int i = 0; i < 9; ++i) v[i] = t[ly + i / 3][lx + i % 3];
  for (int i = 0; i < 5; ++i)
    for (int j = i + 1; j < 9; ++j)
      if (v[j] < v[i]) { uchar s = v[i]; v[i] = v[j]; v[j] = s; }
  out[get_global_id(1) * w + get_global_id(0)] = v[4];
}
kernel void halve(global const uchar4* in, global uchar4* out, int w) {
  int x = get_global_id(0), y = get_global_id(1);
  global const uchar4* p = in + 2 * y * 2 * w + 2 * x;
  out[y * w + x] = convert_uchar4((convert_ushort4(p[0]) + convert_ushort4(p[1]) + convert_ushort4(p[2 * w]) + convert_ushort4(p[2 * w + 1])) / (ushort4)4);
}
kernel void bilinear(global const uchar4* in, global uchar4* out, int w, int h, int W, int H) {
  int x = get_global_id(0), y = get_global_id(1);
  float fx = (x + 0.5f) * w / W - 0.5f, fy = (y + 0.5f) * h / H - 0.5f;
  int ix = (int)floor(fx), iy = (int)floor(fy);
  fx -= ix; fy -= iy;
  int x0 = max(ix, 0), x1 = min(ix + 1, w - 1), y0 = max(iy, 0), y1 = min(iy + 1, h - 1);
  float4 a = mix(convert_float4(in[y0 * w + x0]), convert_float4(in[y0 * w + x1]), fx);
  float4 b = mix(convert_float4(in[y1 * w + x0]), convert_float4(in[y1 * w + x1]), fx);
  out[y * W + x] = convert_uchar4_sat_rte(mix(a, b, fy));
}
kernel void row_sums(global const uchar* in, global uint* out, int w) {
  int y = get_global_id(0); uint s = 0;
  for (int x = 0; x < w; ++x) out[y * w + x] = s += in[y * w + x];
}
kernel void row_sums_uint(global uint* a, int w) {
  int y = get_global_id(0); uint s = 0;
  for (int x = 0; x < w; ++x) { s += a[y * w + x]; a[y * w + x] = s; }
}
kernel void transpose_uint(global const uint* in, global uint* out, int w, int h) {
  local uint t[16][17];
  int x = get_group_id(0) * 16, y = get_group_id(1) * 16, lx = get_local_id(0), ly = get_local_id(1);
  if (x + lx < w && y + ly < h) t[ly][lx] = in[(y + ly) * w + x + lx];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (y + lx < h && x + ly < w) out[(x + ly) * h + y + lx] = t[lx][ly];
}
kernel void histogram(global const uchar* in, global uint* hist) {
  local uint mine[256];
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&mine[in[get_global_id(0)]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) if (mine[i]) atomic_add(&hist[i], mine[i]);
}
kernel void make_lut(global const uint* hist, global uchar* lut, int total) {
  local uint a[256];
  int t = get_local_id(0);
  a[t] = hist[t];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s < 256; s <<= 1) {
    uint v = t >= s ? a[t - s] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[t] += v;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  lut[t] = (uchar)(a[t] * 255 / total);
}
kernel void apply_lut(constant uchar* lut, global uchar4* p) {
  size_t i = get_global_id(0); uchar4 v = p[i];
  p[i] = (uchar4)(lut[v.x], lut[v.y], lut[v.z], lut[v.w]);
}
kernel void crc_rows(global const uchar* in, global uint* out, int n) {
  int r = get_global_id(0); uint c = ~0u;
  for (global const uchar* p = in + r * n, *e = p + n; p != e; ++p) {
    c ^= *p;
    for (int k = 0; k < 8; ++k) c = c >> 1 ^ (0xEDB88320u & -(c & 1));
  }
  out[r] = ~c;
}
kernel void box_columns(global const uchar* in, global uchar* out, int w, int h, int r) {
  int x = get_global_id(0), s = 0;
  for (int y = -r; y <= r; ++y) s += in[clamp(y, 0, h - 1) * w + x];
  for (int y = 0; y < h; ++y) {
    out[y * w + x] = s / (2 * r + 1);
    s += in[min(y + r + 1, h - 1) * w + x] - in[max(y - r, 0) * w + x];
  }
}
kernel void premultiply(global uint4* p) {
  uint4 v = p[get_global_id(0)], a = v >> 24;
  p[get_global_id(0)] = (v & 0xff000000u) | ((v & 0xff00ff) * a >> 8 & 0xff00ff) | ((v >> 8 & 0xff) * a & 0xff00);
}
kernel void flip_rows(global uint* p, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  uint a = p[y * w + x], b = p[(h - 1 - y) * w + x];
  p[y * w + x] = b; p[(h - 1 - y) * w + x] = a;
}
kernel void yuv_back(global const uchar* yp, global const uchar* u, global const uchar* v, global uchar* rgb, int w) {
  int x = get_global_id(0), y = get_global_id(1);
  int c = yp[mad24(y, w, x)] - 16, d = u[(y >> 1) * (w >> 1) + (x >> 1)] - 128, e = v[(y / 2) * (w / 2) + x / 2] - 128;
  int3 p = (int3)(298 * c + 409 * e + 128, 298 * c - 100 * d - 208 * e + 128, 298 * c + 516 * d + 128) >> 8;
  vstore3(convert_uchar3_sat(p), y * w + x, rgb);
}
