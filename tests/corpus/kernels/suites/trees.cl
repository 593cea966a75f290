// Rays through a tree with a stack, structures with padding and bit fields, hash tables, scans.
//@ splits trace hash_find scan_blocks scan_add move_parts pack_parts bit_fields digit_count digit_scatter label md5ish mandel nqueens life_packed
//@ splits_never hash_insert scan_top lookback digit_scan
//@ buffer nodes 127*32 float 1
//@ buffer tris 256*48 float 2
//@ buffer img 64*48*4 zero
//@ buffer depth 64*48*4 zero
//@ buffer keys 512*4 below:700 3
//@ buffer table 2048*8 zero
//@ buffer found 512*4 zero
//@ buffer scan 2048*4 below:9 4
//@ buffer scanned 2048*4 zero
//@ buffer blocks 32*4 zero
//@ buffer state 33*8 zero
//@ buffer ticket 4 zero
//@ buffer look 2048*4 zero
//@ buffer parts 300*40 random 5
//@ buffer out 300*12 zero
//@ buffer bits 256*8 random 6
//@ buffer bits2 256*8 zero
//@ buffer q 2048*4 random 7
//@ buffer q2 2048*4 zero
//@ buffer digit 16*32*4 zero
//@ buffer labels 64*48*4 ramp
//@ buffer changed 4 zero
//@ buffer md 256*16 zero
//@ run trace g=64,48 l=8,8 : nodes tris img depth int=64
//@ run hash_insert g=512 l=64 : keys table
//@ run hash_find g=512 l=64 : keys table found
//@ run scan_blocks g=2048 l=64 : scan scanned blocks
//@ run scan_top g=32 l=32 : blocks
//@ run scan_add g=2048 l=64 : scanned blocks
//@ run lookback g=2048 l=64 : scan look state ticket
//@ run move_parts g=300 l=10 : parts float=0.5
//@ run pack_parts g=300 l=20 : parts out
//@ run bit_fields g=256 l=32 : bits bits2
//@ run digit_count g=2048 l=64 : q digit int=4
//@ run digit_scan g=512 l=512 : digit
//@ run digit_scatter g=2048 l=64 : q q2 digit int=4
// Work-groups read what others write: the labels are the same in whatever order once nothing changes any more.
//@ for i 1..112
//@ run label g=64,48 l=16,4 : labels img changed int=64 int=48
//@ end
//@ run md5ish g=256 l=32 : md int=12345
//@ run mandel g=64,48 l=8,4 : img float=0.05
//@ run nqueens g=512 l=64 : look int=9
//@ run life_packed g=256 l=32 : bits2 bits
typedef struct { float lo[3]; int left; float hi[3]; int right; } Node;
typedef struct { float3 a, b, c; } Tri;
typedef struct { float3 o, d; float t; int id; } Ray;
bool box_(global const Node* n, const Ray* r) {
  float a = 0, b = r->t;
  for (int k = 0; k < 3; ++k) {
    float o = k == 0 ? r->o.x : k == 1 ? r->o.y : r->o.z, d = k == 0 ? r->d.x : k == 1 ? r->d.y : r->d.z;
    float l = fmin(n->lo[k], n->hi[k]) - 0.3f, h = fmax(n->lo[k], n->hi[k]) + 0.3f, u = (l - o) / d, v = (h - o) / d;
    a = fmax(a, fmin(u, v)); b = fmin(b, fmax(u, v));
  }
  return a <= b;
}
void hit(global const Tri* t, int i, Ray* r) {
  float3 e = t[i].b - t[i].a, f = t[i].c - t[i].a, p = cross(r->d, f);
  float det = dot(e, p);
  if (fabs(det) < 1e-6f) return;
  float3 s = r->o - t[i].a, q = cross(s, e);
  float u = dot(s, p) / det, v = dot(r->d, q) / det, w = dot(f, q) / det;
  if (u >= 0 && v >= 0 && u + v <= 1 && w > 0 && w < r->t) { r->t = w; r->id = i; }
}
kernel void trace(global const Node* nodes, global const Tri* tris, global uchar4* img, global float* depth, int w) {
  Ray r;
  r.o = (float3)(0, 0, -3); r.d = (float3)(((int)get_global_id(0) - 32) / 40.0f, ((int)get_global_id(1) - 24) / 40.0f, 1);
  r.t = 100; r.id = -1;
  int stack[16], top = 0;
  stack[top++] = 0;
  while (top > 0) {
    int n = stack[--top];
    if (!box_(nodes + n, &r)) continue;
    if (n >= 63) { hit(tris, (n - 63) * 4, &r); hit(tris, (n - 63) * 4 + 1, &r); continue; }
    stack[top++] = 2 * n + 1; stack[top++] = 2 * n + 2;
  }
  int at = get_global_id(1) * w + get_global_id(0);
  img[at] = r.id < 0 ? (uchar4)(0, 0, 0, 255) : (uchar4)(r.id, r.id * 3, 128, 255);
  depth[at] = r.t;
}
kernel void hash_insert(global const uint* keys, global uint2* table) {
  uint k = keys[get_global_id(0)] + 1, h = k * 2654435761u >> 21;
  for (;;) {
    uint old = atomic_cmpxchg((volatile global uint*)&table[h], 0u, k);
    if (old == 0 || old == k) { atomic_inc((volatile global uint*)&table[h] + 1); return; }
    h = (h + 1) & 2047;
  }
}
kernel void hash_find(global const uint* keys, global const uint2* table, global uint* found) {
  uint k = (keys[get_global_id(0)] * 7) % 700 + 1, h = k * 2654435761u >> 21;
  while (table[h].x != 0 && table[h].x != k) h = (h + 1) & 2047;
  found[get_global_id(0)] = table[h].x == k ? table[h].y : 0;
}
kernel void scan_blocks(global const uint* in, global uint* out, global uint* sums) {
  local uint a[64]; int t = get_local_id(0);
  a[t] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s < 64; s *= 2) { uint v = t >= s ? a[t - s] : 0; barrier(CLK_LOCAL_MEM_FENCE); a[t] += v; barrier(CLK_LOCAL_MEM_FENCE); }
  out[get_global_id(0)] = a[t];
  if (t == 63) sums[get_group_id(0)] = a[t];
}
kernel void scan_top(global uint* s) {
  local uint a[32]; int t = get_local_id(0);
  a[t] = s[t]; barrier(CLK_LOCAL_MEM_FENCE);
  uint v = 0; for (int i = 0; i < t; ++i) v += a[i];
  s[t] = v;
}
kernel void scan_add(global uint* o, global const uint* s) { o[get_global_id(0)] += s[get_group_id(0)]; }
// One pass with a look back: waits for the groups before.
kernel void lookback(global const uint* in, global uint* out, volatile global int* state, volatile global int* ticket) {
  local int group, before; local uint a[64]; int t = get_local_id(0);
  if (t == 0) group = atomic_inc(ticket);
  barrier(CLK_LOCAL_MEM_FENCE);
  int g = group;
  a[t] = in[g * 64 + t]; barrier(CLK_LOCAL_MEM_FENCE);
  uint v = 0; for (int i = 0; i <= t; ++i) v += a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 63) {
    int b = 0;
    if (g > 0) { while (atomic_or(&state[2 * (g - 1)], 0) == 0) ; b = state[2 * (g - 1) + 1]; }
    before = b; state[2 * g + 1] = b + v; mem_fence(CLK_GLOBAL_MEM_FENCE); atomic_xchg(&state[2 * g], 1);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g * 64 + t] = before + v;
}
typedef struct { char kind; short n; float pos[3]; float vel[3]; double mass; } Part; // 40 bytes with padding
kernel void move_parts(global Part* p, float dt) {
  global Part* mine = p + get_global_id(0);
  if (mine->kind & 1) mine->n += 1;
  for (int k = 0; k < 3; ++k) mine->pos[k] = (float)(as_int(mine->vel[k]) & 0xffff) * dt;
}
typedef struct __attribute__((packed)) { char kind; short n; float x; } Packed; // 7 bytes
kernel void pack_parts(global const Part* p, global Packed* o) {
  size_t i = get_global_id(0);
  Packed v; v.kind = p[i].kind; v.n = p[i].n; v.x = p[i].pos[1];
  o[i] = v;
}
kernel void bit_fields(global const ulong* in, global ulong* out) {
  union { ulong all; struct { uint lo, hi; } h; ushort s[4]; } u;
  u.all = in[get_global_id(0)];
  u.h.lo ^= u.h.hi << 3; u.s[1] = rotate(u.s[1], (ushort)5);
  out[get_global_id(0)] = u.all | popcount(u.h.hi);
}
kernel void digit_count(global const uint* k, global uint* c, int shift) {
  local uint h[16]; int t = get_local_id(0);
  if (t < 16) h[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&h[k[get_global_id(0)] >> shift & 15]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < 16) c[t * get_num_groups(0) + get_group_id(0)] = h[t];
}
kernel void digit_scan(global uint* c) {
  local uint a[512]; int t = get_local_id(0);
  a[t] = c[t]; barrier(CLK_LOCAL_MEM_FENCE);
  uint v = 0; for (int i = 0; i < t; ++i) v += a[i];
  c[t] = v;
}
kernel void digit_scatter(global const uint* k, global uint* o, global const uint* c, int shift) {
  local uchar d[64]; int t = get_local_id(0);
  uint v = k[get_global_id(0)]; d[t] = v >> shift & 15;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint rank = 0; for (int i = 0; i < t; ++i) rank += d[i] == d[t];
  o[c[d[t] * get_num_groups(0) + get_group_id(0)] + rank] = v;
}
kernel void label(global int* l, global const uchar4* img, global int* changed, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1), at = y * w + x, m = l[at];
  if (x > 0 && img[at - 1].x == img[at].x) m = min(m, l[at - 1]);
  if (y > 0 && img[at - w].x == img[at].x) m = min(m, l[at - w]);
  if (m < l[at]) { l[at] = m; *changed = 1; }
}
kernel void md5ish(global uint4* o, uint seed) {
  uint4 v = (uint4)(0x67452301, 0xefcdab89, 0x98badcfe, get_global_id(0) ^ seed);
  for (int i = 0; i < 64; ++i) { v.x += ((v.y & v.z) | (~v.y & v.w)) + i * 0x9E3779B9u; v = rotate(v.yzwx, (uint4)(7, 12, 17, 22)); }
  o[get_global_id(0)] = v;
}
kernel void mandel(global uint* o, float s) {
  float cx = ((int)get_global_id(0) - 40) * s, cy = ((int)get_global_id(1) - 24) * s, x = 0, y = 0; uint n = 0;
  do { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; } while (++n < 200 && x * x + y * y < 4);
  o[get_global_id(1) * get_global_size(0) + get_global_id(0)] = n;
}
kernel void nqueens(global uint* o, int n) {
  uint id = get_global_id(0), count = 0, full = (1u << n) - 1;
  uint c0 = id % n, c1 = id / n % n;
  uint cols[12], l[12], r[12], open[12];
  cols[0] = 1u << c0; l[0] = cols[0] << 1; r[0] = cols[0] >> 1;
  uint b1 = 1u << c1;
  if (!(b1 & (cols[0] | l[0] | r[0]))) {
    cols[1] = cols[0] | b1; l[1] = (l[0] | b1) << 1; r[1] = (r[0] | b1) >> 1;
    int d = 1; open[1] = full & ~(cols[1] | l[1] | r[1]);
    while (d >= 1) {
      if (!open[d]) { --d; continue; }
      uint b = open[d] & -open[d]; open[d] ^= b;
      if (d + 2 == n) { ++count; continue; }
      cols[d + 1] = cols[d] | b; l[d + 1] = (l[d] | b) << 1; r[d + 1] = (r[d] | b) >> 1; ++d;
      open[d] = full & ~(cols[d] | l[d] | r[d]);
    }
  }
  o[id] = count;
}
kernel void life_packed(global const ulong* a, global ulong* b) {
  int y = get_global_id(0), h = get_global_size(0);
  ulong u = a[(y + h - 1) % h], m = a[y], d = a[(y + 1) % h], o = 0;
  for (int x = 0; x < 64; ++x) {
    int n = 0;
    for (int k = -1; k <= 1; ++k) { int s = (x + k) & 63; n += (u >> s & 1) + (d >> s & 1) + (k ? (m >> s & 1) : 0); }
    if (n == 3 || (n == 2 && (m >> x & 1))) o |= 1ul << x;
  }
  b[y] = o;
}
