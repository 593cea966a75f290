// Inference of language models: quantised matrix by vector, norms, rotary positions, a cache of keys and values,
// attention, feed-forward with a fused end; a matrix product by tiles with bias and activation.
//@ splits q4_matvec q8_matvec q4_matvec2 embed rmsnorm rope kv_append scores softmax mixv gemm_gelu dequant_k im2col argmax_rows silu_mul residual
//@ buffer q4 256*8*18 random 1
//@ buffer x 256*4 float 2
//@ buffer y 256*4 zero
//@ buffer q8 128*8*36 random 3
//@ buffer emb 512*64*4 float 4
//@ buffer tok 64*4 below:512 5
//@ buffer h 64*64*4 float 6
//@ buffer w 64*4 float 7
//@ buffer n 64*64*4 zero
//@ buffer kc 128*4*16*4 float 8
//@ buffer vc 128*4*16*4 float 9
//@ buffer qv 4*16*4 float 10
//@ buffer at 4*128*4 zero
//@ buffer ao 4*16*4 zero
//@ buffer A 128*96*4 float 11
//@ buffer B 96*80*4 float 12
//@ buffer C 128*80*4 zero
//@ buffer bias 80*4 float 13
//@ buffer sb 64*144 random 14
//@ buffer dq 64*256*4 zero
//@ buffer col 64*9*36*4 zero
//@ buffer best 64*8 zero
//@ run q4_matvec g=256*8 l=8 : q4 x y int=8 local=32
//@ run q8_matvec g=128 l=16 : q8 x y int=8
//@ run q4_matvec2 g=128 l=16 : q4 x y int=8
//@ run embed g=64,64 l=16,4 : emb tok h int=64
//@ run rmsnorm g=64*16 l=16 : h w n int=64 float=0.00001 local=64
//@ run rope g=32,64 l=8,4 : n int=64 int=5
//@ for pos 100..103
//@ run kv_append g=64 l=16 : h kc vc int=$pos int=64
//@ run scores g=128,4 l=16,1 : qv kc at int=$pos int=16 int=4
//@ run softmax g=4*32 l=32 : at int=$pos int=128 local=128
//@ run mixv g=16,4 l=8,1 : at vc ao int=$pos int=16 int=4
//@ end
//@ run gemm_gelu g=80,128 l=16,16 : A B C bias int=128 int=80 int=96
//@ run dequant_k g=64*32 l=32 : sb dq
//@ run im2col g=36,64 l=6,8 : n col int=8 int=8 int=3
//@ run argmax_rows g=64*32 l=32 : n best int=64
//@ run silu_mul g=1024 l=64 : dq n
//@ run residual g=4096 l=64 : n h
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct { ushort d; uchar qs[16]; } __attribute__((packed)) block_q4_0;
typedef struct { float d; char qs[32]; } block_q8_0;
float safe_half(ushort bits) { return (float)(bits & 0x3ff) / 1024.0f - 0.5f; }
kernel void q4_matvec(global const block_q4_0* A, global const float* x, global float* y, int nb, local float* tmp) {
  int row = get_group_id(0), t = get_local_id(0);
  float sum = 0;
  for (int b = t; b < nb; b += get_local_size(0)) {
    global const block_q4_0* blk = A + row * nb + b;
    float d = safe_half(blk->d);
    for (int j = 0; j < 16; ++j) {
      uchar q = blk->qs[j];
      sum += d * ((int)(q & 15) - 8) * x[b * 32 + j] + d * ((int)(q >> 4) - 8) * x[b * 32 + j + 16];
    }
  }
  tmp[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (t < s) tmp[t] += tmp[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) y[row] = tmp[0];
}
kernel void q8_matvec(global const block_q8_0* A, global const float* x, global float* y, int nb) {
  int row = get_global_id(0);
  float sum = 0;
  for (int b = 0; b < nb; ++b) {
    global const block_q8_0* blk = &A[row * nb + b];
    int4 acc = 0;
    for (int j = 0; j < 32; j += 4) {
      char4 q = vload4(0, blk->qs + j);
      acc += convert_int4(q) * convert_int4(vload4(0, x + b * 32 + j) * 64.0f);
    }
    sum += (float)(acc.x + acc.y + acc.z + acc.w) * (float)(as_int(blk->d) & 255);
  }
  y[row] = sum;
}
// Vector loads by 16 bytes of blocks of 18: no alignment.
kernel void q4_matvec2(global const uchar* A, global const float* x, global float* y, int nb) {
  int row = get_global_id(0);
  float sum = 0;
  for (int b = 0; b < nb; ++b) {
    global const uchar* p = A + (size_t)(row * nb + b) * 18;
    uchar16 q = vload16(0, p + 2);
    float16 lo = convert_float16(q & (uchar16)15), hi = convert_float16(q >> (uchar16)4);
    float16 r = lo * vload16(2 * b, x) + hi * vload16(2 * b + 1, x);
    float8 s8 = r.lo + r.hi; float4 s4 = s8.lo + s8.hi;
    sum += (s4.x + s4.y + s4.z + s4.w) * p[0];
  }
  y[row] += sum;
}
kernel void embed(global const float* table, global const int* tokens, global float* out, int dim) {
  int i = get_global_id(0), t = get_global_id(1);
  out[t * dim + i] = table[tokens[t] * dim + i];
}
kernel void rmsnorm(global const float* x, global const float* w, global float* o, int n, float eps, local float* s) {
  int r = get_group_id(0), t = get_local_id(0), L = get_local_size(0);
  float sum = 0;
  for (int i = t; i < n; i += L) sum += x[r * n + i] * x[r * n + i];
  s[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = L >> 1; k; k >>= 1) { if (t < k) s[t] += s[t + k]; barrier(CLK_LOCAL_MEM_FENCE); }
  float scale = 1.0f / sqrt(s[0] / n + eps);
  for (int i = t; i < n; i += L) o[r * n + i] = x[r * n + i] * scale * w[i];
}
kernel void rope(global float* x, int dim, int pos0) {
  int i = get_global_id(0), t = get_global_id(1);
  float f = (float)((t + pos0) * (i + 1)) * 0.001f, c = 1.0f - f * f, s = f;
  float2 v = vload2(t * (dim / 2) + i, x);
  vstore2((float2)(v.x * c - v.y * s, v.x * s + v.y * c), t * (dim / 2) + i, x);
}
kernel void kv_append(global const float* h, global float* kc, global float* vc, int pos, int dim) {
  int i = get_global_id(0);
  kc[pos * dim + i] = h[pos % 64 * dim + i];
  vc[pos * dim + i] = -h[pos % 64 * dim + i] * 0.5f;
}
kernel void scores(global const float* q, global const float* kc, global float* att, int pos, int hs, int heads) {
  int t = get_global_id(0), head = get_global_id(1);
  if (t > pos) return;
  float s = 0;
  for (int i = 0; i < hs; ++i) s += q[head * hs + i] * kc[(t * heads + head) * hs + i];
  att[head * 128 + t] = s * 0.25f;
}
kernel void softmax(global float* att, int pos, int stride, local float* l) {
  int head = get_group_id(0), t = get_local_id(0), L = get_local_size(0);
  global float* a = att + head * stride;
  float m = -INFINITY;
  for (int i = t; i <= pos; i += L) m = fmax(m, a[i]);
  l[t] = m; barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) for (int i = 1; i < L; ++i) l[0] = fmax(l[0], l[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  m = l[0]; barrier(CLK_LOCAL_MEM_FENCE);
  float s = 0;
  for (int i = t; i <= pos; i += L) { float e = 1.0f / (1.0f + m - a[i]); a[i] = e; s += e; }
  l[t] = s; barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) for (int i = 1; i < L; ++i) l[0] += l[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  s = l[0];
  for (int i = t; i <= pos; i += L) a[i] /= s;
}
kernel void mixv(global const float* att, global const float* vc, global float* o, int pos, int hs, int heads) {
  int i = get_global_id(0), head = get_global_id(1);
  float s = 0;
  for (int t = 0; t <= pos; ++t) s += att[head * 128 + t] * vc[(t * heads + head) * hs + i];
  o[head * hs + i] = s;
}
#define TS 16
__attribute__((reqd_work_group_size(TS, TS, 1)))
kernel void gemm_gelu(global const float* restrict A, global const float* restrict B, global float* restrict C,
                      global const float* restrict bias, const int M, const int N, const int K) {
  local float As[TS][TS + 1], Bs[TS][TS + 1];
  const int tx = get_local_id(0), ty = get_local_id(1), c = get_group_id(0) * TS + tx, r = get_group_id(1) * TS + ty;
  float acc = 0;
  for (int t = 0; t < K / TS; ++t) {
    As[ty][tx] = A[r * K + t * TS + tx];
    Bs[ty][tx] = B[(t * TS + ty) * N + c];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int k = 0; k < TS; ++k) acc = mad(As[ty][k], Bs[k][tx], acc);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  acc += bias[c];
  C[r * N + c] = acc > 0 ? acc : 0.01f * acc;
}
// A super-block: 16 packed 6-bit scales, then 128 bytes of nibbles.
kernel void dequant_k(global const uchar* sb, global float* out) {
  int b = get_group_id(0), t = get_local_id(0);
  global const uchar* p = sb + b * 144;
  int j = t / 4;
  uchar sc, m;
  if (j < 4) { sc = p[4 + j] & 63; m = p[8 + j] & 63; }
  else { sc = (p[8 + j] & 0xF) | ((p[j] >> 6) << 4); m = (p[8 + j] >> 4) | ((p[4 + j] >> 6) << 4); }
  global const uchar* q = p + 16 + t * 4;
  global float* o = out + b * 256 + t * 8;
  for (int l = 0; l < 4; ++l) { o[l] = (float)sc * (q[l] & 15) - m; o[l + 4] = (float)sc * (q[l] >> 4) - m; }
}
kernel void im2col(global const float* in, global float* col, int W, int H, int K) {
  int o = get_global_id(0), ch = get_global_id(1);
  int ox = o % 6, oy = o / 6;
  for (int ky = 0; ky < K; ++ky)
    for (int kx = 0; kx < K; ++kx)
      col[((ch * K + ky) * K + kx) * 36 + o] = in[(ch * H + oy + ky) * W + ox + kx];
}
kernel void argmax_rows(global const float* x, global struct { float v; int i; } * best, int n) {
  local float v[32]; local int at[32];
  int r = get_group_id(0), t = get_local_id(0);
  v[t] = -INFINITY; at[t] = 0;
  for (int i = t; i < n; i += 32) if (x[r * n + i] > v[t]) { v[t] = x[r * n + i]; at[t] = i; }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 16; s; s >>= 1) {
    if (t < s && (v[t + s] > v[t] || (v[t + s] == v[t] && at[t + s] < at[t]))) { v[t] = v[t + s]; at[t] = at[t + s]; }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) { best[r].v = v[0]; best[r].i = at[0]; }
}
kernel void silu_mul(global float4* a, global const float4* b) {
  size_t i = get_global_id(0);
  float4 v = a[i];
  a[i] = v / (1.0f + fabs(v)) * b[i];
}
kernel void residual(global const float* a, global float* b) { size_t i = get_global_id(0); b[i] += a[i]; }
