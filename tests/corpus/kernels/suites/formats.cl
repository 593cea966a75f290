// Sparse matrices by all sorts of formats.
//@ splits ell csr_scalar csr_vector bsr4 coo_atomic sell dia_mv bitmap_mv jacobi_row rows_len csr_halfrows csc_scatter
//@ buffer x 512*4 float 1
//@ buffer y 512*4 zero
//@ buffer ec 16*512*4 below:512 2
//@ buffer ev 16*512*4 float 3
//@ buffer row 513*4 rising:16 4
//@ buffer col 8192*4 below:512 5
//@ buffer val 8192*4 float 6
//@ buffer bc 1024*4 below:128 7
//@ buffer bv 1024*16*4 float 8
//@ buffer br 129*4 rising:8 9
//@ buffer cr 2048*4 below:512 10
//@ buffer sp 17*4 rising:256 11
//@ buffer dia 7*512*4 float 12
//@ buffer off 7*4 below:64 13
//@ buffer perm 512*4 permutation 14
//@ buffer yl 512*8 zero
//@ buffer bitm 512*64 random 15
//@ run ell g=512 l=32 : ec ev x y int=512 int=16
//@ run csr_scalar g=512 l=32 : row col val x y
//@ run csr_vector g=4096 l=64 : row col val x y int=512
//@ run bsr4 g=512 l=64 : br bc bv x y
//@ run coo_atomic g=2048 l=64 : cr col val yl
//@ run sell g=512 l=32 : sp col val x y perm
//@ run dia_mv g=512 l=64 : dia off x y int=7 int=512
//@ run bitmap_mv g=512 l=16 : bitm x y
//@ run csc_scatter g=512 l=64 : perm x y
//@ run jacobi_row g=512 l=32 : row col val x y
//@ run rows_len g=512 l=64 : row yl
//@ run csr_halfrows g=1024 l=64 : row col val x y
kernel void ell(global const int* c, global const float* v, global const float* x, global float* y, int n, int w) {
  int i = get_global_id(0); float s = 0;
  for (int k = 0; k < w; ++k) s += v[k * n + i] * x[c[k * n + i]];
  y[i] = s;
}
kernel void csr_scalar(global const int* row, global const int* col, global const float* val, global const float* x, global float* y) {
  int i = get_global_id(0); float s = 0;
  for (int k = row[i], e = row[i + 1]; k < e; ++k) s = fma(val[k], x[col[k]], s);
  y[i] += s;
}
kernel void csr_vector(global const int* row, global const int* col, global const float* val, global const float* x, global float* y, int n) {
  local volatile float s[64];
  int t = get_local_id(0), lane = t & 7, i = get_global_id(0) >> 3;
  float a = 0;
  if (i < n) for (int k = row[i] + lane; k < row[i + 1]; k += 8) a += val[k] * x[col[k]];
  s[t] = a;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane == 0 && i < n) y[i] = s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4] + s[t + 5] + s[t + 6] + s[t + 7];
}
kernel void bsr4(global const int* br, global const int* bc, global const float* bv, global const float* x, global float* y) {
  int i = get_global_id(0), b = i / 4, r = i & 3; float s = 0;
  for (int k = br[b]; k < br[b + 1]; ++k) {
    float4 m = vload4(0, bv + k * 16 + r * 4), q = vload4(bc[k], x);
    s += dot(m, q);
  }
  y[i] = s;
}
kernel void coo_atomic(global const int* r, global const int* c, global const float* v, global int* y) {
  int k = get_global_id(0);
  atomic_add(&y[2 * r[k]], (int)(v[k] * 1000) + c[k]);
}
kernel void sell(global const int* sp, global const int* col, global const float* val, global const float* x, global float* y, global const int* perm) {
  int g = get_group_id(0), l = get_local_id(0); float s = 0;
  int b = sp[g], w = (sp[g + 1] - b) / 32;
  for (int k = 0; k < w; ++k) s += val[b + k * 32 + l] * x[col[b + k * 32 + l]];
  y[perm[get_global_id(0)]] = s;
}
kernel void dia_mv(global const float* d, global const int* off, global const float* x, global float* y, int nd, int n) {
  int i = get_global_id(0); float s = 0;
  for (int k = 0; k < nd; ++k) { int j = i + off[k] - 32; if (j >= 0 && j < n) s += d[k * n + i] * x[j]; }
  y[i] = s;
}
kernel void bitmap_mv(global const ulong* b, global const float* x, global float* y) {
  int i = get_global_id(0); float s = 0;
  for (int w = 0; w < 8; ++w)
    for (ulong m = b[i * 8 + w]; m; m &= m - 1) s += x[w * 64 + 63 - clz(m & -m)];
  y[i] = s;
}
kernel void csc_scatter(global const int* perm, global const float* x, global float* y) { int i = get_global_id(0); y[perm[i]] += x[i]; }
kernel void jacobi_row(global const int* row, global const int* col, global const float* val, global const float* x, global float* y) {
  int i = get_global_id(0); float d = 1, s = 0;
  for (int k = row[i]; k < row[i + 1]; ++k) if (col[k] == i) d += fabs(val[k]); else s += val[k] * x[col[k]];
  y[i] = (x[i] - s) / d;
}
kernel void rows_len(global const int* row, global long* len) { int i = get_global_id(0); len[i] = (long)row[i + 1] - row[i]; }
kernel void csr_halfrows(global const int* row, global const int* col, global const float* val, global const float* x, global float* y) {
  local float s[64];
  int i = get_global_id(0) / 2, o = get_global_id(0) % 2, t = get_local_id(0); float a = 0;
  for (int k = row[i] + o; k < row[i + 1]; k += 2) a += val[k] * x[col[k]];
  s[t] = a; barrier(CLK_LOCAL_MEM_FENCE);
  if (!o) y[i] = s[t] + s[t + 1];
}
