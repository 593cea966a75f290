#include "analysis-pass/tests/oracle/blocks.h"

namespace libsplit::oracle {

// `BASE` keeps places inside that a mutation moved before the buffer's begin. `@I @J @K` are the
// global ids, spelled in several ways, `@L @G @S @N` local id, group id, local and global size of
// dimension 0.
const char* const sharedHeader = R"(#ifndef GENERATED
#define GENERATED
#include "$(inner##./inner).h"
typedef struct $(##__attribute__((packed))) {
  $(char tag; E x; short y[3];##E x; char tag; short y[3]; E2 p;##short y[3]; E x; char tag; E more;)
} Cell;
#define ALIGN(n, by) (((n) + (by) - 1) / (by) * (by))
int wrapped(int i, int n) {
  return $(i < 0 ? i + n : i >= n ? i - n : i##(i + n) % n##~(i % n + n) % n);
}
int clamped(int i, int n) { return $(clamp(i, 0, n - 1)##min(max(i, 0), n - 1)); }
void keep(global E* to, int at, E value) { to[BASE + at] = value; }
E mixed(E a, E b) { return $(a + b##a * 3 - b##(E)(a + 2 * b)); }
#endif
)";

const char* const innerHeader = R"(typedef @T E;
typedef @T2 E2;
typedef @T3 E3;
typedef @T4 E4;
typedef @T8 E8;
typedef @T16 E16;
#define BASE $(0##64##200)
#define PITCH(n) $((n)##((n) + 3)##ALIGN(n, 8))
constant int weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
constant struct { int dx, dy; } way[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
)";

static const Block all[] = {
    // Vectors and their components.
    {"components",
     120,
     1,
     {},
     "global E4* v, global const E* x",
     R"(  int i = @I;
  $(v[i].x = x[i]; v[i + 1].y = (E)(x[i] + 1);
##  if (i & 1) v[i / 2].hi = (E2)(x[i], x[i + 1]); else v[i / 2].lo = (E2)(x[i]);
##  v[i].xz = (E2)(x[i]); v[i + 2].w = x[i + 1];
##  v[i].s1 = x[i]; ((global E*)v)[4 * i + 2] = 7;
##  E4 t = v[i]; t.even = (E2)(x[i]); v[i] = t;
##  v[i].lo = v[i].hi;
##  v[i].xyz = v[i].zyx;
##  v[i].odd = (E2)(x[i], x[i + 2]); v[i].x += v[i].y;
##  ((global E*)(v + i))[i % 4] = x[i];
##  if (x[i] > 0) v[i].w = x[i]; v[i + 3].x -= 2;))"},
    {"wide_components",
     120,
     1,
     {},
     "global E8* v, global E3* u, global const E* x",
     R"(  int i = @I;
  $(v[i].s0246 = (E4)(x[i]); v[i + 1].s1357 = (E4)(x[i + 1]);
##  v[i].hi.lo = (E2)(x[i]); v[i].lo = (E4)(x[i], 1, 2, 3);
##  v[i / 2].$(s1##s7##s3) = x[i];)
  u[i].$(y = x[i];##xz = (E2)(x[i]);##s2 = x[i + 1];##xyz = (E3)(x[i], 1, 2);##lo = (E2)(x[i]);))"},
    {"small_components",
     120,
     0,
     {},
     "global uchar4* p, global short2* q, global uchar16* r, global const uchar* x",
     R"(  int i = @I + 40 * @J;
  p[i].$(x = x[i];##yw = (uchar2)(x[i]);##hi = (uchar2)(x[i], 3);##xyz = (uchar3)(x[i]);)
  q[i / 2].$(x##y) = 1;
  if (i % 16 < $(4..16)) r[i / 16].$(sf##s0##s9) = 5;
  q[i + 600].y = (short)x[i]; q[i + 601].x = 3;)"},
    {"vloads",
     120,
     1,
     {},
     "global E* a, global const E* x, int n",
     R"(  int i = @I;
  $(vstore3(vload3(i, x) + (E3)(1), i, a);
##  vstore4(vload4(i, x + (n & 3)), i, a + BASE);
##  E8 w = vload8(i, x); vstore2(w.s25, 2 * i, a); vstore2(w.hi.lo, 2 * i + 1, a);
##  vstore16((E16)(vload8(i, x), vload8(i + 1, x)), i, a);
##  if (i < n) vstore4(vload4(0, x + i), 0, a + 4 * i);
##  vstore2(vload2(i, x).yx, $(i##n - i##~i / 2), a + BASE);))"},
    {"halves",
     120,
     1,
     {},
     "global half* h, @float global const float* f, global float* g, int n",
     R"(  int i = @I;
  $(vstore_half(f[i], i, h);##vstore_half4(vload4(i, f), i, h);##vstore_half2_rte(vload2(i, f), i, h);
##  vstorea_half3(vload3(i, f), i, h);##vstorea_half4_rtz(vload4(i, f), i, h);##vstore_half3(vload3(i, f), i, h);)
  if (i < n) g[i] = $(f[i] + 1.0f##f[n - 1 - i]##2.0f);)"},
    {"half_loads",
     120,
     1,
     {},
     "global const half* h, global int* a, global int4* b",
     R"(  int i = @I;
  a[i] = convert_int_sat($(vload_half(i, h)##vload_half(2 * i, h + 1)));
  b[i] = convert_int4_sat($(vload_half4(i, h)##vloada_half4(i, h)));
  b[i + 700].xyz = convert_int3_sat($(vload_half3(i, h)##vloada_half3(i, h)));)"},
    {"bytes",
     120,
     1,
     {},
     "global uchar* to, global ushort* t, global const uint* x, global const char* y",
     R"(  int i = @I;
  to[i] = (uchar)(x[i / 4] >> (8 * (i & 3)));
  t[$(i##i ^ 1##2 * i)] = as_ushort2(x[i]).$(x##y);
  if (y[i] $(>##<##==) 0) to[$(i##i + 3000)] ^= (uchar)y[i];)"},
    // Scalars of all types and values.
    {"scalars",
     120,
     1,
     {},
     "global long* out, char c, uchar uc, short s, ushort us, int any, uint u, long l, ulong ul, "
     "float f",
     R"(  int i = @I;
  long sum = c + uc + s + us;
  if ($(i < c##(uint)i < u##i <= (int)l##(ulong)i >= ul##i != (uc & 7)##(float)i < f##any > i)) out[i] = sum;
  out[1000 + i $(+ (us & 31)##- (s & 15)##+ (c & 3)##* 2 + (int)(u & 1))] = $(l##(long)ul##any##sum + (long)u);)"},
    {"vector_scalars",
     120,
     1,
     {},
     "global int* out, int2 p, int4 q, char4 b, ulong2 w, float4 f, short3 t",
     R"(  int i = @I;
  if ($(i >= p.x && i < p.x + (p.y & 15)##i != q.z##(i & 3) == (b.w & 3)##f.x < (float)i)) out[BASE + i] = p.y + q.w;
  out[BASE + 500 + i * ((t.z & 1) + 1)] = $(b.x##(int)w.s1##t.y##q.lo.x);)"},
    {"handles",
     120,
     1,
     {},
     "global long* out, ulong handle, ulong mask, global const int* x",
     R"(  int i = @I;
  ulong number = handle ^ mask;
  if ($(number > (ulong)i##(number & 3) == (ulong)(i & 3)##handle != 0)) out[i] = (long)number + x[i];
  out[1000 + i + (int)(number & 15)] = (long)(number >> 2);)"},
    // Structs.
    {"structs",
     120,
     1,
     {},
     "global Cell* to, global const Cell* from, int n",
     R"(  int i = @I;
  $(to[i].x = from[$(i##n - i##i + 1)].x; to[i].y[$(0..2)] = from[i].y[1];
##  to[i] = from[i];
##  Cell c = from[i]; c.x = (E)n; to[i] = c;
##  to[i].tag = from[i].tag; if (from[i].tag > 0) to[i].x += 2;
##  global Cell* p = to + i; p->y[i % 3] = 4; p->x = (E)i;))"},
    {"nested_structs",
     120,
     0,
     {},
     "global E* a, global const E* x, int n",
     R"(  typedef struct { E first; struct { E2 pair; E rest[2]; } inner[2]; } Deep;
  int i = @I + 20 * @J;
  global Deep* d = (global Deep*)a + $(i##i * 2##BASE + i);
  d->first = x[i];
  d->inner[$(n & 1##1##i % 2)].$(pair.y##rest[1]##pair.x) = x[i + 1];)"},
    // Sorting.
    {"bitonic",
     120,
     1,
     {},
     "global E* a, int s",
     R"(  int i = @I, j = 1 << (s & 3), k = j << $(1##1##2);
  int other = i ^ j;
  if (other > i) {
    E p = a[i], q = a[other];
    if ((i & k) == 0 ? p > q : p < q) {
      a[i] = q;
      a[other] = p;
    }
  })"},
    {"bitonic_pairs",
     120,
     1,
     {},
     "global E2* a, int s",
     R"(  int i = @I, j = 1 << (s & 3);
  int low = $((i / j) * 2 * j + i % j##((i & ~(j - 1)) << 1) | (i & (j - 1)));
  E2 p = a[low], q = a[low + j];
  bool swap = $(p.x > q.x##p.x < q.x);
  a[low] = swap ? q : p;
  a[low + j] = swap ? p : q;)"},
    {"odd_even",
     120,
     1,
     {},
     "global E* a, int n, int m",
     R"(  int i = 2 * @I + (n & 1);
  if ($(i + 1 < 2 * @N##i < m)) {
    E p = a[BASE + i], q = a[BASE + i + 1];
    if (p > q) { a[BASE + i] = q; a[BASE + i + 1] = p; }
  })"},
    {"rank_sort",
     120,
     1,
     {},
     "@permutation global const int* key, global E* to, global const E* x, int n",
     R"(  int i = @I;
  if (i < $(@N##n)) to[$(key[i]##key[i] & 1023##key[key[i]])] = x[i];)"},
    // Transforms.
    {"butterfly",
     120,
     1,
     {},
     "global E2* z, int s",
     R"(  int i = @I, half_ = 1 << (s & 3), k = i & (half_ - 1);
  int j = ((i - k) << 1) + k;
  E2 u = z[j], w = z[$(j + half_##j | half_##~j + 1)];
  z[j] = u + w;
  z[j + half_] = (E2)(u.x - w.y, u.y + w.x);)"},
    {"stockham",
     120,
     1,
     {},
     "global const E2* x, global E2* y, int s, int n",
     R"(  int i = @I, p = 1 << (s & 3), t = $(@N##n & 63);
  int k = i & (p - 1);
  E2 u0 = x[i], u1 = x[i + t];
  int j = $((i << 1) - k##((i - k) << 1) + k);
  y[j] = u0 + u1;
  y[j + p] = u0 - u1;)"},
    {"radix_4",
     120,
     1,
     {},
     "global const E2* x, global E2* y",
     R"(  int i = @I, t = @N;
  E2 u[4];
  for (int q = 0; q < 4; ++q) u[q] = x[i + q * t];
  for (int q = 0; q < 4; ++q) y[$(4 * i + q##i + q * t##q * t + (t - 1 - i))] = u[q] + u[3 - q].yx;)"},
    {"haar",
     120,
     1,
     {},
     "global const E* x, global E* y, int n",
     R"(  int i = @I, h = $(@N##n & 127);
  E a = x[2 * i], b = x[2 * i + 1];
  y[i] = (E)(a + b);
  y[$(h + i##i + 2 * @N)] = (E)(a - b);)"},
    // Sums and scans.
    {"tree",
     120,
     1,
     {},
     "global const E* x, global E* sums, local E* t, int n",
     R"(  int l = @L;
  t[l] = $(x[@I]##@I < n ? x[@I] : 0##x[BASE + 2 * @I] + x[BASE + 2 * @I + 1]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = $(@S / 2##(@S + 1) / 2##4); s > 0; $(s >>= 1##s /= 2)) {
    if (l < s && l + s < @S) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) sums[$(@G##BASE + @G##2 * @G)] = t[0];)"},
    {"grid_stride",
     120,
     1,
     {},
     "global const E* x, global E* sums, global E* y, int n",
     R"(  E sum = 0;
  for (int p = @I; p < n; p += $(@N##~@N + 1)) {
    sum += x[p];
    $(y[p] = (E)(x[p] * 2);##if (x[p] > 3) y[BASE + p] = sum;##)
  }
  sums[@I] = sum;)"},
    {"hillis_steele",
     120,
     1,
     {},
     "global const E* x, global E* y, global E* ends",
     R"(  local E t[2][64];
  int l = @L, in = 0;
  t[0][l] = x[@I];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < @S; d *= 2) {
    t[1 - in][l] = l >= d ? t[in][l] + t[in][l - d] : t[in][l];
    in = 1 - in;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  y[@I] = t[in][l];
  if (l == @S - 1) ends[@G] = t[in][l];)"},
    {"add_ends",
     120,
     1,
     {},
     "global E* y, global const E* ends",
     R"(  E before = 0;
  for (int g = 0; g < @G; ++g) before += ends[$(g##BASE + g)];
  y[@I] += before;)"},
    {"triangle",
     120,
     1,
     {},
     "global E* t, global const E* x, int n",
     R"(  int i = @I;
  for (int k = 0; $(k <= i##k < i##k <= i && k < n); ++k) t[i * (i + 1) / 2 + k] = x[$(k##i - k)];)"},
    // Grids.
    {"stencil",
     120,
     2,
     {},
     "global const E* u, global E* v, int w, int h",
     R"(  int x = @I, y = @J, p = PITCH(@N);
  if ($(x > 0 && y > 0 && x < @N - 1 && y < @M - 1##x < (w & 31) && y < (h & 31)##x + y > 0)) {
    int c = BASE + y * p + x;
    v[c] = $(u[c] + u[c - 1] + u[c + 1] + u[c + p]##u[c - p]##u[c] - u[c + p + 1]##v[c] + u[c]);
  } $(##else v[BASE + y * p + x] = 0;))"},
    {"periodic",
     120,
     2,
     {},
     "global const E* u, global E* v",
     R"(  int x = @I, y = @J, w = @N, h = @M;
  v[y * w + x] = u[y * w + wrapped(x + 1, w)] + u[$(wrapped(y - 1, h)##clamped(y + 1, h)) * w + x];)"},
    {"stencil_3d",
     120,
     3,
     {},
     "global const E* u, global E* v, int n",
     R"(  int x = @I, y = @J, z = @K, w = @N, h = @M;
  int c = BASE + (z * h + y) * w + x;
  if ($(z > 0##x != n##y + z < n)) v[c] = u[c] + u[c + w * h] + u[$(c + 1##c - w##c - 1)];)"},
    {"red_black",
     120,
     2,
     {},
     "global E* u, int n",
     R"(  int x = @I + 1, y = @J + 1, p = @N + 2;
  if (((x + y) & 1) == (n & 1)) {
    int c = y * p + x;
    u[c] = $(u[c - 1] + u[c + 1] - u[c - p] - u[c + p]##u[c + 1] + 1##(u[c] + u[c - p]) / 2);
  })"},
    {"convolve",
     120,
     2,
     {},
     "global const E* u, global E* v",
     R"(  int x = @I, y = @J, w = @N;
  E sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      sum += weights[(dy + 1) * 3 + dx + 1] * u[$(clamped(y + dy, @M) * w + clamped(x + dx, w)##200 + (y + dy) * w + x + dx)];
  v[y * w + x] = sum;)"},
    {"halo_tile",
     120,
     2,
     {},
     "global const E* u, global E* v, int w",
     R"(  local E t[20][20];
  int lx = @L, ly = (int)get_local_id(1), x = @I, y = @J;
  for (int q = ly; q < (int)get_local_size(1) + 2; q += (int)get_local_size(1))
    for (int p = lx; p < @S + 2; p += @S)
      t[q][p] = u[BASE + (y - ly + q) * PITCH(@N + 2) + x - lx + p];
  barrier(CLK_LOCAL_MEM_FENCE);
  v[y * PITCH(@N) + x] = t[ly][lx + 1] + t[ly + 2][lx + 1] $(- t[ly + 1][lx]##+ t[ly + 1][lx + 2]);)"},
    {"transpose_tile",
     120,
     2,
     {4, 4, 0},
     "global const E* from, global E* to, int n",
     R"(  local E t[4][5];
  int x = @I, y = @J, lx = @L, ly = (int)get_local_id(1);
  t[ly][lx] = from[y * @N + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  int tx = $((int)get_group_id(1) * 4 + lx##y - ly + lx), ty = $(@G * 4 + ly##x - lx + ly);
  $(to[ty * @M + tx] = t[lx][ly];##if (tx < n && ty < n) to[BASE + ty * @M + tx] = t[lx][ly];))"},
    {"transpose",
     120,
     2,
     {},
     "global const E* from, global E* to, int n",
     R"(  int x = @I, y = @J;
  to[$(x * @M + y##x * PITCH(@M) + y##(x + 1) * @M - 1 - y)] = from[y * @N + x];)"},
    {"streaming",
     120,
     2,
     {},
     "global const E* f, global E* g, int n",
     R"(  int x = @I, y = @J, w = @N, h = @M, size = w * h, id = y * w + x;
  $(for (int q = 0; q < 4; ++q) {
    int from = wrapped(y - way[q].dy, h) * w + wrapped(x - way[q].dx, w);
    g[q * size + id] = f[q * size + from];
  }
##  for (int q = 0; q < 4; ++q) {
    int to = wrapped(y + way[q].dy, h) * w + wrapped(x + way[q].dx, w);
    g[q * size + to] = f[q * size + id];
  }
##  for (int q = 0; q < 5; ++q) g[id * 5 + q] = f[wrapped(id + q * (n & 3), size) * 5 + q];))"},
    {"in_place_lattice",
     120,
     1,
     {},
     "global E* f, int n",
     R"(  int id = @I, size = @N, odd = n & 1;
  for (int q = 0; q < 3; ++q) {
    int at = $(q * size + wrapped(id + (odd ? q : 0), size)##wrapped(id + q * (n & 7), size) * 3 + q);
    f[at] = f[at] * 2 + 1;
  })"},
    {"sweep",
     120,
     1,
     {},
     "global E* a, int n",
     R"(  int i = @I, w = @N;
  for (int k = 1; k < (n & 15); ++k)
    $(a[k * w + i] -= a[(k - 1) * w + i];##a[i * 16 + k] += a[i * 16 + k - 1];##a[BASE + k * w + i] = a[BASE + (k - 1) * w + i];))"},
    {"rows",
     120,
     1,
     {},
     "global E* a, global const E* x, int w",
     R"(  int i = @I;
  for (int k = $(0##1##~i); k < $((w & 15)##9##~i); $(++k##k += 2))
    a[$(i * PITCH(w & 15) + k##i * 16 + k##k * @N + i##i * 16 + 15 - k)] = x[$(k##k * @N + i)];)"},
    {"cube",
     120,
     0,
     {},
     "global E* a, global const E* x",
     R"(  global E(*c)[5][3] = (global E(*)[5][3])a;
  int i = @I + 24 * @J;
  for (int q = 0; q < 3; ++q) c[i][$(q##2##4 - q)][q] = x[i * 3 + q];)"},
    // Linear algebra.
    {"matmul",
     120,
     2,
     {},
     "global const E* a, global const E* b, global E* c, int k",
     R"(  int x = @I, y = @J, w = @N;
  E sum = 0;
  for (int p = 0; p < (k & 15); ++p) sum += a[$(y * 16 + p##p * @M + y)] * b[$(p * w + x##x * 16 + p)];
  $(c[y * w + x] = sum;##c[BASE + x * @M + y] += sum;##if (sum != 0) c[y * w + x] = sum;))"},
    {"matmul_tiled",
     120,
     2,
     {4, 4, 0},
     "global const E* a, global const E* b, global E* c, int k",
     R"(  local E ta[4][4], tb[4][4];
  int lx = @L, ly = (int)get_local_id(1), x = @I, y = @J;
  E sum = 0;
  for (int t = 0; t < (k & 3); ++t) {
    ta[ly][lx] = a[y * 16 + t * 4 + lx];
    tb[ly][lx] = b[(t * 4 + ly) * @N + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < 4; ++p) sum += ta[ly][p] * tb[p][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * @N + x] = sum;)"},
    {"csr",
     120,
     1,
     {},
     "@rising:6 global const int* row, @below:256 global const int* col, global const E* x, global "
     "E* y, int n",
     R"(  int i = @I;
  if ($(i < @N##i < n)) {
    E sum = 0;
    for (int k = row[i]; k < row[i + 1]; ++k) sum += x[$(col[k]##k##BASE + col[k])];
    y[$(i##BASE + i)] = sum;
    $(##for (int k = row[i]; k < row[i + 1]; ++k) y[1000 + k] = (E)k;)
  })"},
    {"csr_groups",
     120,
     1,
     {},
     "@rising:9 global const int* row, @below:256 global const int* col, global const E* x, global "
     "E* y, local E* t",
     R"(  int l = @L, g = @G;
  t[l] = 0;
  for (int k = row[g] + l; k < row[g + 1]; k += @S) t[l] += x[col[k]];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) { E sum = 0; for (int p = 0; p < @S; ++p) sum += t[p]; y[g] = sum; })"},
    {"ell",
     120,
     1,
     {},
     "@below:500 global const int* col, global const E* x, global E* y, int n",
     R"(  int i = @I;
  E sum = 0;
  for (int k = 0; k < (n & 7); ++k) { int c = col[$(k * @N + i##i * 8 + k)]; if (c $(>=##!=) 3) sum += x[c]; }
  y[i] = sum;)"},
    {"gather",
     120,
     1,
     {},
     "@permutation global const int* order, @below:900 global const int* column, global const E* "
     "x, global E* y, int n",
     R"(  int i = @I;
  $(y[i] = x[order[i]];##y[order[i]] = x[i];##y[i] = x[column[order[i]]];##if (column[i] > n) y[i] = x[column[i]];
##  y[order[i] % 700 + 3] = x[column[i]];))"},
    {"pairs",
     120,
     1,
     {},
     "global const E2* p, global E2* force, int n",
     R"(  int i = @I;
  E2 sum = (E2)(0);
  for (int k = 0; k < $(@N##(n & 63)); ++k) $(sum += p[k] - p[i];##if (k != i) sum.x += p[k].y;)
  force[i] = sum;)"},
    // Copies, local memory.
    {"async",
     120,
     1,
     {},
     "global const E* x, global E* y, local E* t, int n",
     R"(  int s = @S, g = @G;
  event_t e = async_work_group_copy(t, x + $(g * s##g * s + (n & 7)), s, 0);
  wait_group_events(1, &e);
  E mine = t[s - 1 - @L];
  barrier(CLK_LOCAL_MEM_FENCE);
  t[@L] = $(mine##(E)(mine + 1));
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_copy(y + $(g * s##BASE + g * s##2 * g * s), t, s, 0);
  wait_group_events(1, &e);)"},
    {"async_strided",
     120,
     1,
     {},
     "global const E* x, global E* y, local E* t",
     R"(  event_t e = async_work_group_strided_copy(t, x + @G * @S * 3, @S, 3, 0);
  wait_group_events(1, &e);
  $(y[@I] = t[@L];##barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_strided_copy(y + $(@G##@G * @S * 2), t, @S, $((uint)get_num_groups(0)##2), 0);
  wait_group_events(1, &e);))"},
    {"async_triples",
     120,
     1,
     {},
     "global const E3* x, global E3* y, local E3* t",
     R"(  event_t e = async_work_group_copy(t, x + @G * @S, @S, 0);
  wait_group_events(1, &e);
  e = async_work_group_copy(y + @G * @S, t, @S, 0);
  wait_group_events(1, &e);)"},
    {"through_memory",
     120,
     1,
     {},
     "global E* a, global E* b, global const E* x",
     R"(  int i = @I, first = $(i - @L##@G * @S);
  a[i] = x[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  b[i] = a[$(first + @S - 1 - @L##first##first + (@L + 1) % @S##~first + @S)];)"},
    {"barriers",
     120,
     1,
     {},
     "global E* y, global E* z, global const E* x, int n, int m",
     R"(  int i = @I;
  E v = x[i];
  $(##y[i] = v;##y[i] = 3; z[i] = 5;)
  $(barrier(CLK_GLOBAL_MEM_FENCE);
##  if ($(n > 3##m##~i < n##~x[i] > 0)) barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
##  for (int k = 0; k < $(n & 7##~i & 7); ++k) {
    v += x[i + k];
    barrier(CLK_GLOBAL_MEM_FENCE);
    $(##y[i] = v;##y[i + k] = 3;##~if (x[k] > 100) break;)
  })
  $(z[i] = v;##z[i] = x[i + 1];##y[i ^ 1] = 2;##z[i] = y[i ^ 1];##z[(i + 1) % @N] = 7;))"},
    {"kept_pointers",
     120,
     1,
     {},
     "global E* y, global const E* x, global const E* u, int n, int m",
     R"(  int i = @I;
  global const E* rows[4] = {x, x, x, $(x##u)};
  for (int k = 0; k < $(4##(n & 3)##~(x[i] > 2 ? 2 : 4)); ++k)
    rows[$(k##(k + i) & 3)] = $(x + k * (m & 15)##(k & 1) ? x + k : u + 5##x + i##rows[3 - k] + 1##~y + k);
  y[i] = rows[$(i & 3##m & 3##x[i] > 0)][$(i##@L##m & 63)];)"},
    {"many_ends",
     120,
     1,
     {},
     "global const E* x, global E* y, int n, int m",
     R"(  int i = @I;
  if ($(i >= n##i > m##x[i] < 0)) return;
  y[i] = x[i];
  if ($(i & 1##x[i] > 5##i * 2 > n)) return;
  y[i + 900] = 1;)"},
    {"regions",
     120,
     1,
     {},
     "global E* a, global E* b, int n",
     R"(  int i = @I;
  switch ($(@G % 3##i & 3##i / (@S + 1) % 3)) {
  case 0: a[i] = 1; break;
  case 1: b[i] = 2;
  case 2: a[i + 700] = (E)n; break;
  default: b[$(i + 700##n & 63)] = 4;
  })"},
    {"pointers",
     120,
     1,
     {},
     "global E* a, global E* b, global const E* x, int n",
     R"(  int i = @I;
  global E* p = $((n & 1) ? a : b##(i & 1) ? a : b##x[i] > 0 ? a : b##a) + i * 4;
  for (int k = 0; k < $((n & 3)##4##3); ++k) $(*p++ = x[i + k];##p[k] = x[k];##*p = (E)k, p += 1;))"},
    {"helpers",
     120,
     0,
     {},
     "global E* a, global const E* x, int n",
     R"(  int i = @I + 40 * @J;
  keep(a, $(i##2 * i##i + (n & 7)), mixed(x[i], x[i + 1]));)"},
    {"local_table",
     120,
     1,
     {},
     "global E* a, constant const int* table, global const uchar* x",
     R"(  local int t[64];
  for (int k = @L; k < 64; k += @S) t[k] = table[k] $(& 255##);
  barrier(CLK_LOCAL_MEM_FENCE);
  a[@I] = (E)t[x[@I] & 63];
  $(##a[1000 + (@I ^ 1)] = (E)weights[x[@I] % 9];))"},
    // Atomics whose result nobody uses.
    {"histogram",
     120,
     1,
     {},
     "global const uint* x, global uint* bins, int n",
     R"(  int i = @I;
  $(atomic_inc(&bins[x[i] & 31]);##atomic_add(&bins[x[i] % 17], (uint)n);##if (i < n) atomic_dec(bins + (x[i] & 7));
##  atomic_sub((global int*)bins + (x[i] & 15), i);##atomic_add(&bins[i / 4], x[i]);##atomic_xor(&bins[x[i] & 7], 1u << (i & 31));
##  atomic_or(&bins[i / 32], 1u << (i % 32));##atomic_and(&bins[x[i] & 3], ~(1u << (i & 31)));))"},
    {"local_histogram",
     120,
     1,
     {},
     "global const uint* x, global uint* bins",
     R"(  local uint t[16];
  for (int k = @L; k < 16; k += @S) t[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&t[x[@I] & 15]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = @L; k < 16; k += @S) $(atomic_add(&bins[k], t[k]);##bins[@G * 16 + k] = t[k];##if (t[k]) atomic_add(bins + k, t[k]);))"},
    {"extremes",
     120,
     1,
     {},
     "global const int* x, global int* least, global uint* most, int n",
     R"(  int i = @I;
  atomic_min(&least[$(0##x[i] & 3##i / 8)], x[i]);
  if ($(i < n##x[i] > 0)) atomic_max(&most[$(x[i] & 1##0)], $((uint)x[i]##(uint)i));)"},
    {"wide_atomics",
     120,
     1,
     {},
     "global const uint* x, global long* sums, global E* y",
     R"(#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
  int i = @I;
  atom_add(&sums[x[i] & 7], (long)x[i]);
  y[i] = (E)x[i];)"},
    {"flags",
     120,
     1,
     {},
     "global const E* x, global E* y, global int* changed, int n",
     R"(  int i = @I;
  E old = y[i], fresh = $(x[i]##old < x[i] ? old : x[i]##clamp(old, (E)0, (E)50));
  if (old != fresh) { y[i] = fresh; $(*changed = 1;##changed[n & 3] = 1;##changed[0] = changed[1] = 5;) })"},
    // Depend on the order of work-groups, and are not split.
    {"prepared_by_first",
     120,
     1,
     {},
     "global E* u, global E* y, global const E* x",
     R"(  int i = @I;
  if (i == (int)get_global_offset(0)) u[0] = x[0] + 1;
  barrier(CLK_GLOBAL_MEM_FENCE);
  y[i] = u[0];)",
     BlockKind::InOrder},
    {"chain_of_groups",
     120,
     1,
     {},
     "global E* y, global const E* x",
     R"(  int i = (int)(get_global_id(0) - get_global_offset(0));
  y[i + @S] = x[i] + y[i];)",
     BlockKind::InOrder},
    {"shifted_in_place",
     120,
     1,
     {},
     "global E* y",
     R"(  int i = (int)(get_global_id(0) - get_global_offset(0));
  y[i] = y[i + $(1##2##@S)] * 2;)",
     BlockKind::InOrder},
    {"counter",
     120,
     1,
     {},
     "global int* count, global E* out, global const E* x",
     R"(  int i = @I;
  if (x[i] > 0) out[atomic_inc(count) & 1023] = x[i];)",
     BlockKind::InOrder},
    {"exchange",
     120,
     1,
     {},
     "global int* last, global int* out",
     R"(  int i = (int)(get_global_id(0) - get_global_offset(0));
  out[i] = atomic_xchg(last, i) & 255;)",
     BlockKind::InOrder},
    // Ids of any size.
    {"high_bits",
     120,
     0,
     {},
     "global E* a, global const E* x",
     R"(  size_t i = get_global_id(0);
  $(a[(i >> $(26..30)) & 255] = 1;##a[i % 1000] = x[(i / 1000) % 1000];##a[(uint)i & 1023] = 2;
##  if (i > 0x$(80000000##100000000##7fffffff)ul) a[get_local_id(0)] = 3; else a[100 + get_local_id(0)] = 3;
##  if ((int)i >= 0 && (int)i < 900) a[(int)i] = 4;##a[(ushort)i & 1023] = x[(uchar)(i >> 4)];
##  a[get_group_id(0) & 511] = 5;##a[min(i, (size_t)1000)] = 6;##a[i - get_global_offset(0) < 700 ? i - get_global_offset(0) : 800] = 7;))",
     BlockKind::Huge},
    {"high_places",
     120,
     2,
     {},
     "global E* a, global const E* x, uint u, ulong ul, int n",
     R"(  size_t x0 = get_global_id(0), y0 = get_global_id(1);
  $(size_t i = y0 * get_global_size(0) + x0;##ulong i = x0 * get_global_size(1) + y0;##size_t i = x0 ^ y0;)
  if ($(i < 1000##i >> 33 == 1##(i & 0xffffffff) < 500##i < ul##(uint)i < u)) a[i & 1023] = (E)9;
  $(##a[(uint)(x0 * y0) & 1023] = 2;##if ((int)x0 < n) a[1024 + (x0 & 15)] = x[y0 & 255];))",
     BlockKind::Huge},
    // OpenCL C 2.0 and later.
    {"group_functions",
     200,
     1,
     {},
     "global int* y, global const int* x, global uint* z, int n",
     R"(  int i = @I, v = x[i];
  $(y[i] = work_group_scan_inclusive_add(v);##y[i] = work_group_scan_exclusive_add(v);##y[i] = work_group_reduce_max(v) - v;
##  int sum = work_group_reduce_add(v); if (@L == 0) y[@G] = sum;
##  if (work_group_any(v > n)) y[i] = 1;##if (work_group_all(v > n)) y[i] = 2; else y[i + 900] = 3;
##  y[i] = work_group_broadcast(v, (size_t)0);##y[i] = work_group_scan_exclusive_min(v);)
  $(##z[i] = work_group_reduce_min((uint)v);##z[i] = work_group_scan_inclusive_max((uint)v);))"},
    {"sub_groups",
     200,
     1,
     {},
     "global int* y, global const int* x, global uint* z",
     R"(#pragma OPENCL EXTENSION cl_khr_subgroups : enable
  int i = @I, v = x[i];
  $(y[i] = sub_group_reduce_add(v);##y[i] = sub_group_scan_inclusive_add(v);##y[i] = (int)get_sub_group_local_id() + v;
##  if (get_sub_group_local_id() == 0) y[i] = v;##y[i] = sub_group_broadcast(v, 0u);
##  z[@G * 8 + get_sub_group_id()] = get_sub_group_size();##y[i] = (int)(get_max_sub_group_size() & 1u);))"},
    {"program_scope",
     200,
     1,
     {},
     "global int* y, global const int* x, global int* unused",
     R"(  int i = @I;
  if (x[i] > 100) kept@SEED = x[i] & 7;
  y[i] = kept@SEED + x[i];)",
     BlockKind::InOrder},
    {"generic",
     200,
     1,
     {},
     "global E* y, global const E* x, int n",
     R"(  local E t[64];
  int l = @L;
  t[l] = x[@I];
  barrier(CLK_LOCAL_MEM_FENCE);
  const E* p = $((n & 1) ? (const E*)(t + l) : (const E*)(x + @I)##(l & 1) ? (const E*)(t + l) : (const E*)(x + @I));
  E* q = $(y + @I##(E*)&y[BASE + @I]);
  *q = *p;)"},
    {"uneven",
     200,
     0,
     {},
     "global E* y, global const E* x, global int* sizes",
     R"(  int i = @I + 40 * @J;
  y[$(i##(int)get_global_linear_id()##@G * (int)get_enqueued_local_size(0) + @L + 40 * @J)] = x[i];
  if (@L == 0) sizes[@G + 30 * (int)get_group_id(1)] = @S + (int)get_num_groups(0);)"},
    {"atomics_2",
     200,
     1,
     {},
     "global const int* x, global atomic_int* sums, global E* y",
     R"(  int i = @I;
  $(atomic_fetch_add_explicit(&sums[x[i] & 7], x[i], memory_order_relaxed, memory_scope_device);
##  atomic_fetch_max_explicit(&sums[x[i] & 3], x[i], memory_order_relaxed, memory_scope_device);)
  y[i] = (E)x[i];)"},
};

std::span<const Block> blocks() {
  return all;
}

} // namespace libsplit::oracle
