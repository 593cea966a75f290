// Shapes of access that real kernels have. What stands after `oracle:` is checked on real runs.
// RUN: %splitc --emit=accesses %s | %FileCheck %s
// RUN: %splitc --explain --kernel=from_1d_to_3d %s | %FileCheck %s --check-prefix=TERMS

// Columns of a row-major matrix, one per work-item.
// CHECK-LABEL: kernel column(
// CHECK-NEXT: writes a at 4*(k0*w + G0), 4 bytes, k0 < max(h, 0), if G0 < w{{$}}
// oracle: exact
kernel void column(global float* a, int w, int h) {
  int x = get_global_id(0);
  if (x < w)
    for (int y = 0; y < h; ++y) a[y * w + x] = 0;
}

// Structure of arrays: nineteen planes.
// CHECK-LABEL: kernel planes(
// CHECK-NEXT: writes f at 4*(k0*n + G0), 4 bytes, k0 < 19{{$}}
// oracle: exact
kernel void planes(global float* f, int n) {
  int id = get_global_id(0);
  for (int q = 0; q < 19; ++q) f[q * n + id] = q;
}

// The same with directions from a table, pulled from neighbours that wrap around.
constant int cx[5] = {0, 1, -1, 0, 0};
constant int cy[5] = {0, 0, 0, 1, -1};
// CHECK-LABEL: kernel pull(
// CHECK-NEXT: reads g at 4*(((G1 + h)%h)*w + (G0 + w)%w), 4 bytes, if G0 < w and G1 < h{{$}}
// CHECK-NEXT: writes f at 4*(G1*w + G0), 4 bytes, if G0 < w and G1 < h{{$}}
// CHECK-NEXT: reads g at 4*((h + (G1 + h)%h)*w + (G0 + w - 1)%w), 4 bytes, if G0 < w and G1 < h{{$}}
// CHECK-NEXT: writes f at 4*((G1 + h)*w + G0), 4 bytes, if G0 < w and G1 < h{{$}}
// CHECK-NEXT: reads g at 4*((2*h + (G1 + h)%h)*w + (G0 + w + 1)%w), 4 bytes, if G0 < w and G1 < h{{$}}
// CHECK-NEXT: writes f at 4*((2*h + G1)*w + G0), 4 bytes, if G0 < w and G1 < h{{$}}
// CHECK-NEXT: reads g at 4*((3*h + (G1 + h - 1)%h)*w + (G0 + w)%w), 4 bytes, if G0 < w and G1 < h{{$}}
// CHECK-NEXT: writes f at 4*((3*h + G1)*w + G0), 4 bytes, if G0 < w and G1 < h{{$}}
// CHECK-NEXT: reads g at 4*((4*h + (G1 + h + 1)%h)*w + (G0 + w)%w), 4 bytes, if G0 < w and G1 < h{{$}}
// CHECK-NEXT: writes f at 4*((4*h + G1)*w + G0), 4 bytes, if G0 < w and G1 < h{{$}}
// oracle: exact
kernel void pull(global float* f, global const float* g, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h) return;
  for (int q = 0; q < 5; ++q) {
    int sx = (x - cx[q] + w) % w, sy = (y - cy[q] + h) % h;
    f[(q * h + y) * w + x] = g[(q * h + sy) * w + sx];
  }
}

// CHECK-LABEL: kernel record(
// CHECK-NEXT: writes a at 4*(5*G0 + 1), 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: writes a at 4*(5*G0 + 3), 4 bytes, if G0 < n{{$}}
// oracle: exact
kernel void record(global float* a, int n) {
  int i = get_global_id(0);
  if (i < n) { a[5 * i + 1] = 1; a[5 * i + 3] = 2; }
}

typedef struct { int id; float2 at; short tag[3]; } Particle;
// CHECK-LABEL: kernel struct_members(
// CHECK-NEXT: writes p at 24*G0 + 20, 2 bytes, if G0 < n{{$}}
// CHECK-NEXT: reads p at 24*G0, 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: writes ids at 4*G0, 4 bytes, if G0 < n{{$}}
// oracle: exact
kernel void struct_members(global Particle* p, global int* ids, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  p[i].tag[2] = 1;
  ids[i] = p[i].id;
}

// CHECK-LABEL: kernel tile(
// CHECK-NEXT: needs the partition argument{{$}}
// CHECK-NEXT: writes a at 4*((G1 - 1*globalOffset1)*w + G0 - 1*globalOffset0), 4 bytes{{$}}
// oracle: exact
kernel void tile(global float* a, int w) {
  int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
  int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
  a[y * w + x] = 1;
}

// CHECK-LABEL: kernel from_1d(
// CHECK-NEXT: reads b at 4*(100*(G0%w) + G0/w), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*((G0/w)*w + G0%w), 4 bytes{{$}}
// oracle: exact
kernel void from_1d(global float* a, global const float* b, int w) {
  int i = get_global_id(0), x = i % w, y = i / w;
  a[y * w + x] = b[x * 100 + y];
}

// TERMS: where i = get_global_id(0), x = i % w, y = (i / w) % h, z = i / (h*w)
// CHECK-LABEL: kernel from_1d_to_3d(
// CHECK-NEXT: writes a at 4*(((G0/(w*h))*h + G0/w%h)*w + G0%w), 4 bytes{{$}}
// oracle: exact
kernel void from_1d_to_3d(global int* a, int w, int h) {
  int i = get_global_id(0), x = i % w, y = i / w % h, z = i / (w * h);
  a[(z * h + y) * w + x] = i;
}

// The same id taken apart in two ways.
// CHECK-LABEL: kernel two_ways(
// CHECK-NEXT: reads b at 4*(5*(G0/4) + G0%3), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void two_ways(global int* a, global const int* b) {
  int i = get_global_id(0);
  a[i] = b[(i / 4) * 5 + i % 3];
}

// CHECK-LABEL: kernel shifts_and_masks(
// CHECK-NEXT: writes a at 4*((16*floordiv(G0, 8)) | (G0 & 7)), 4 bytes{{$}}
// oracle: exact
kernel void shifts_and_masks(global int* a) {
  uint i = get_global_id(0);
  a[(i >> 3 << 4) | (i & 7)] = 1;
}

// CHECK-LABEL: kernel clamped(
// CHECK-NEXT: reads b at 4*min(max(G0 - 2, 0), n), 4 bytes{{$}}
// CHECK-NEXT: reads b at 4*min(G0 + 3, 20), 4 bytes{{$}}
// CHECK-NEXT: reads b at 4*max(G0, 7), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void clamped(global float* a, global const float* b, int n) {
  int i = get_global_id(0);
  a[i] = b[clamp(i - 2, 0, n)] + b[min(i + 3, 20)] + b[max(i, 7)];
}

// CHECK-LABEL: kernel ternary(
// CHECK-NEXT: reads b at 4*(G0 < 9 ? 2*G0 : G0 + 50), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void ternary(global float* a, global const float* b) {
  int i = get_global_id(0);
  a[i] = b[i < 9 ? 2 * i : i + 50];
}

// Around the edge, both ways, in three spellings.
// CHECK-LABEL: kernel periodic(
// CHECK-NEXT: reads b at 4*(G0 < 0 ? G0 - 1 : (0 < G0 ? G0 - 1 : n - 1)), 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: reads b at 4*((G0 + 1)%n), 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: reads b at 4*((G0 + n - 1)%n), 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 < n{{$}}
// oracle: exact
kernel void periodic(global float* a, global const float* b, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  int left = i == 0 ? n - 1 : i - 1, right = (i + 1) % n;
  a[i] = b[left] + b[right] + b[(i + n - 1) % n];
}

// CHECK-LABEL: kernel mirrored(
// CHECK-NEXT: reads b at 4*(G0 - 3 < 0 ? -1*(G0 - 3) : G0 - 3), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void mirrored(global float* a, global const float* b, int n) {
  int i = get_global_id(0), j = i - 3;
  a[i] = b[j < 0 ? -j : j];
}

// C's remainder has the sign of the dividend.
// CHECK-LABEL: kernel signed_remainder(
// CHECK-NEXT: reads b at 4*((G0 - 5)%4 + 3), 4 bytes{{$}}
// CHECK-NEXT: reads b at 4*((G0 - 5)/4 + 30), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void signed_remainder(global float* a, global const float* b) {
  int i = get_global_id(0);
  a[i] = b[(i - 5) % 4 + 3] + b[(i - 5) / 4 + 30];
}

// CHECK-LABEL: kernel backwards(
// CHECK-NEXT: writes a at 4*(n - 1*G0 - 1), 4 bytes, if G0 < n{{$}}
// oracle: exact
kernel void backwards(global int* a, int n) {
  int i = get_global_id(0);
  if (i < n) a[n - 1 - i] = 1;
}

// CHECK-LABEL: kernel negative_stride(
// CHECK-NEXT: writes a at 4*(-3*G0 + 2000), 4 bytes{{$}}
// oracle: exact
kernel void negative_stride(global int* a, int s) {
  int i = get_global_id(0);
  a[2000 - 3 * i] = 1;
}

// Stays in 32 unsigned bits only in the end.
// CHECK-LABEL: kernel wraps_in_between(
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void wraps_in_between(global int* a) {
  uint i = (uint)get_global_id(0) - 7u;
  a[i + 7u] = 1;
}

// CHECK-LABEL: kernel narrow_types(
// CHECK-NEXT: writes a at 4*(20*(G0 & 65535) + (G1 & 255)), 4 bytes{{$}}
// oracle: exact
kernel void narrow_types(global int* a) {
  ushort i = get_global_id(0);
  uchar j = get_global_id(1);
  a[i * 20 + j] = 1;
}

// CHECK-LABEL: kernel triangle(
// CHECK-NEXT: writes a at 4*(64*G0 + k0), 4 bytes, k0 < max(G0 + 1, 0){{$}}
// oracle: exact
kernel void triangle(global int* a, int n) {
  int i = get_global_id(0);
  for (int j = 0; j <= i; ++j) a[i * 64 + j] = 0;
}

// CHECK-LABEL: kernel below_diagonal(
// CHECK-NEXT: writes a at 4*(64*G0 + G1), 4 bytes, if G1 < G0 and G0 < n{{$}}
// oracle: exact
kernel void below_diagonal(global int* a, int n) {
  int i = get_global_id(0), j = get_global_id(1);
  if (j < i && i < n) a[i * 64 + j] = 0;
}

// CHECK-LABEL: kernel nested_triangles(
// CHECK-NEXT: writes a at 4*(64*G0 + 7*k0 + k0 + k1), 4 bytes, k0 < 5, k1 < max(-1*k0 + 6, 0){{$}}
// oracle: exact
kernel void nested_triangles(global int* a) {
  int i = get_global_id(0);
  for (int j = 0; j < 5; ++j)
    for (int k = j; k < 6; ++k) a[i * 64 + j * 7 + k] = 0;
}

// CHECK-LABEL: kernel while_loop(
// CHECK-NEXT: writes a at 4*(120*G0 + 2*k0 + 3), 4 bytes, k0 < max(floordiv(n - 2, 2), 0){{$}}
// oracle: exact
kernel void while_loop(global int* a, int n) {
  int i = get_global_id(0), j = 3;
  while (j < n) { a[i * 120 + j] = 1; j += 2; }
}

// CHECK-LABEL: kernel halving(
// CHECK-NEXT: writes a at 4*(128*G0 + 64), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(128*G0 + 32), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(128*G0 + 16), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(128*G0 + 8), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(128*G0 + 4), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(128*G0 + 2), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(128*G0 + 1), 4 bytes{{$}}
// oracle: exact
kernel void halving(global float* a) {
  int i = get_global_id(0);
  for (int s = 64; s > 0; s /= 2) a[128 * i + s] = 1;
}

// CHECK-LABEL: kernel doubling(
// CHECK-NEXT: writes a at 4*(64*G0 + 1), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(64*G0 + 2), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(64*G0 + 4), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(64*G0 + 8), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(64*G0 + 16), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(64*G0 + 32), 4 bytes{{$}}
// oracle: exact
kernel void doubling(global float* a) {
  int i = get_global_id(0);
  for (int s = 1; s < 64; s <<= 1) a[64 * i + s] = 1;
}

// CHECK-LABEL: kernel grid_stride(
// CHECK-NEXT: needs the partition argument{{$}}
// CHECK-NEXT: writes a at 4*(G0 + globalSize0*k0), 4 bytes, k0 < max(floordiv(n + max(globalSize0, 0) - 1*G0 - 1, max(globalSize0, 0)), 0){{$}}
// oracle: exact
kernel void grid_stride(global int* a, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) a[i] = 0;
}

// CHECK-LABEL: kernel breaks(
// CHECK-NEXT: writes a at 4*(120*G0 + k0), 4 bytes, k0 < min(max(n, 0), max(G0 + 1, 0)), if k0 != m{{$}}
// oracle: exact
kernel void breaks(global int* a, int n, int m) {
  int i = get_global_id(0);
  for (int k = 0; k < n; ++k) {
    if (k > i) break;
    if (k == m) continue;
    a[120 * i + k] = 1;
  }
}

// CHECK-LABEL: kernel returns_in_arm(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 < 5 and n <= 3{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if 5 <= G0 and G0 < m{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 100), 4 bytes, if 5 <= G0 and m <= G0{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 100), 4 bytes, if 5 <= G0 and G0 < m and G0 != 7{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 100), 4 bytes, if G0 < 5 and n <= 3{{$}}
// oracle: exact
kernel void returns_in_arm(global int* a, int n, int m) {
  int i = get_global_id(0);
  if (i < 5) {
    if (n > 3) return;
    a[i] = 1;
  } else if (i < m) {
    a[i] = 2;
    if (i == 7) return;
  }
  a[i + 100] = 2;
}

// CHECK-LABEL: kernel logic(
// CHECK-NEXT: writes a at 4*(64*G1 + G0), 4 bytes, if G0 != 0 and G1 != 0 and G0 < n{{$}}
// CHECK-NEXT: writes a at 4*(64*G1 + G0), 4 bytes, if G0 != 0 and G1 != 0 and G1 < 3{{$}}
// oracle: exact
kernel void logic(global int* a, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  if (!(x == 0 || y == 0) && (x < n || y < 3)) a[y * 64 + x] = 1;
}

// CHECK-LABEL: kernel hole(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 != k{{$}}
// oracle: exact
kernel void hole(global int* a, int k) {
  int x = get_global_id(0);
  if (x != k) a[x] = 1;
}

// CHECK-LABEL: kernel either_buffer(
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: writes b at 4*G0, 4 bytes, if n <= G0{{$}}
// oracle: exact
kernel void either_buffer(global int* a, global int* b, int n) {
  int i = get_global_id(0);
  global int* p = i < n ? a : b;
  p[i] = 1;
}

// CHECK-LABEL: kernel pointer_phi(
// CHECK-NEXT: writes b at 4*(G0 + 500), 4 bytes, if 3 < n{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 700), 4 bytes, if n <= 3{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes, if 3 < n{{$}}
// CHECK-NEXT: writes b at 4*G0 + 28, 4 bytes, if n <= 3{{$}}
// oracle: exact
kernel void pointer_phi(global int* a, global int* b, int n) {
  int i = get_global_id(0);
  global int* p;
  if (n > 3) { p = a; b[i + 500] = 3; } else { p = b + 7; a[i + 700] = 4; }
  p[i] = 1;
}

// CHECK-LABEL: kernel walking_pointer(
// CHECK-NEXT: reads a at 4*G0*n + 4*k0, 4 bytes, k0 < max(n, 0){{$}}
// CHECK-NEXT: writes b at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void walking_pointer(global const float* a, global float* b, int n) {
  int i = get_global_id(0);
  global const float* p = a + i * n;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += *p++;
  b[i] = sum;
}

// CHECK-LABEL: kernel other_types(
// CHECK-NEXT: writes a at 2*(2*G0 + 1), 2 bytes{{$}}
// CHECK-NEXT: writes v at 16*G0 + 8, 4 bytes{{$}}
// oracle: exact
kernel void other_types(global int* a, global float4* v) {
  int i = get_global_id(0);
  ((global short*)a)[2 * i + 1] = 1;
  ((global float*)(v + i))[2] = 1;
}

// CHECK-LABEL: kernel cast_to_3d(
// CHECK-NEXT: writes a at 8*offset + 600*G0 + 200*k0 + 40*k1 + 16, 8 bytes, k0 < 3, k1 < 5{{$}}
// oracle: exact
kernel void cast_to_3d(global double* a, int offset) {
  int i = get_global_id(0);
  global double(*b)[3][5][5] = (global double(*)[3][5][5]) & a[offset];
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 5; k++) b[i][j][k][2] = 1.0;
}

// CHECK-LABEL: kernel private_array(
// CHECK-NEXT: writes a at 256*G0, 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(64*G0 + 11), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(64*G0 + 24), 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(64*G0 + 39), 4 bytes{{$}}
// oracle: exact
kernel void private_array(global int* a) {
  int i = get_global_id(0), at[4];
  for (int k = 0; k < 4; ++k) at[k] = 10 * k + k * k;
  for (int k = 0; k < 4; ++k) a[64 * i + at[k]] = k;
}

// CHECK-LABEL: kernel local_array(
// CHECK-NEXT: depends on work-groups{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void local_array(global int* a) {
  local int t[8];
  int l = get_local_id(0);
  t[l & 7] = l;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[(l + 1) & 7];
}

int twice(int x) { return 2 * x; }
void put(global int* a, int at) { if (at < 40) a[twice(at)] = 1; }
// CHECK-LABEL: kernel helpers(
// CHECK-NEXT: writes a at 8*G0, 4 bytes, if G0 < 40{{$}}
// CHECK-NEXT: writes a at 8*(G0 + 3) + 800, 4 bytes, if G0 + 3 < 40{{$}}
// oracle: exact
kernel void helpers(global int* a) { put(a, get_global_id(0)); put(a + 200, get_global_id(0) + 3); }

// CHECK-LABEL: kernel vectors(
// CHECK-NEXT: reads b at 16*G0 + 12, 16 bytes{{$}}
// CHECK-NEXT: writes a at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: reads b at 12*G0, 12 bytes{{$}}
// CHECK-NEXT: writes a at 12*G0 + 4000, 12 bytes{{$}}
// oracle: exact
kernel void vectors(global float* a, global const float* b) {
  int i = get_global_id(0);
  vstore4(vload4(i, b + 3), i, a);
  vstore3(vload3(i, b), i, a + 1000);
}

// CHECK-LABEL: kernel halves(
// CHECK-NEXT: reads b at 4*G0, 2 bytes{{$}}
// CHECK-NEXT: writes a at 2*G0, 2 bytes{{$}}
// CHECK-NEXT: reads b at 8*G0, 8 bytes{{$}}
// CHECK-NEXT: writes a at 8*G0 + 1000, 8 bytes{{$}}
// oracle: exact
kernel void halves(global half* a, global const half* b) {
  int i = get_global_id(0);
  vstore_half(vload_half(2 * i, b), i, a);
  vstore_half4(vload_half4(i, b), i, a + 500);
}

// CHECK-LABEL: kernel async(
// CHECK-NEXT: depends on work-groups{{$}}
// CHECK-NEXT: needs the partition argument{{$}}
// CHECK-NEXT: reads b at 64*W0 + 4*k0, 4 bytes, k0 < 16{{$}}
// CHECK-NEXT: writes a at 192*W0 + 12*k0, 4 bytes, k0 < 16{{$}}
// oracle: exact
kernel void async(global int* a, global const int* b) {
  local int t[64];
  int g = get_group_id(0);
  event_t e = async_work_group_copy(t, b + 16 * g, 16, 0);
  wait_group_events(1, &e);
  e = async_work_group_strided_copy(a + 48 * g, t, 16, 3, 0);
  wait_group_events(1, &e);
}

// CHECK-LABEL: kernel prefetched(
// CHECK-NEXT: reads b at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// oracle: exact
kernel void prefetched(global float* a, global const float* b) {
  int i = get_global_id(0);
  prefetch(b + 100, 16);
  a[i] = b[i];
}

// CHECK-LABEL: kernel out_pointers(
// CHECK-NEXT: writes a at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*G0 + 800, 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*G0 + 1600, 4 bytes{{$}}
// CHECK-NEXT: writes n at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: writes n at 4*G0 + 800, 4 bytes{{$}}
// CHECK-NEXT: writes n at 4*G0 + 1600, 4 bytes{{$}}
// CHECK-NEXT: writes a at 4*(G0 + 600), 4 bytes{{$}}
// oracle: exact
kernel void out_pointers(global float* a, global int* n, float x) {
  int i = get_global_id(0);
  float s = sincos(x, a + i), f = fract(x, a + 200 + i), m = modf(x, a + 400 + i);
  float e = frexp(x, n + i), r = remquo(x, 3.0f, n + 200 + i), l = lgamma_r(x, n + 400 + i);
  a[600 + i] = s + f + m + e + r + l;
}

// A byte from memory is still a byte.
// CHECK-LABEL: kernel table_lookup(
// CHECK-NEXT: reads data at G0, 1 bytes{{$}}
// CHECK-NEXT: reads table at data[G0], 1 bytes, by `data` at launch{{$}}
// CHECK-NEXT: writes a at G0, 1 bytes{{$}}
// oracle: writes exact
kernel void table_lookup(global uchar* a, global const uchar* data, global const uchar* table) {
  int i = get_global_id(0);
  a[i] = table[data[i]];
}

// A bounded unknown.
// CHECK-LABEL: kernel bin(
// CHECK-NEXT: reads data at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: writes data at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*(unknown(value loaded from `data`) & 255), 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*(max(unknown(value loaded from `data`), 0)%100 + 256), 4 bytes{{$}}
// oracle: inexact
kernel void bin(global int* a, global int* data) {
  int i = get_global_id(0);
  uint k = data[i];
  data[i] = 0;
  a[k & 255] = 1;
  a[256 + k % 100] = 2;
}

constant int steps[4] = {7, -2, 5, 3};
// CHECK-LABEL: kernel one_of_a_table(
// CHECK-NEXT: reads data at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may write a at 4*(min(max(unknown(value loaded from `steps`), -2), 4294967294) + 64), 4 bytes{{$}}
// CHECK-NEXT: writes data at 4*G0, 4 bytes{{$}}
// oracle: inexact
kernel void one_of_a_table(global int* a, global int* data) {
  int i = get_global_id(0);
  a[64 + steps[data[i] & 3]] = 1;
  data[i] = 0;
}

// Where the bound of a loop that halves is an argument, its count is not known.
// CHECK-LABEL: kernel halving_from_argument(
// CHECK-NEXT: may write a anywhere: value carried around a loop{{$}}
// oracle: inexact
kernel void halving_from_argument(global int* a, int n) {
  int i = get_global_id(0);
  for (int s = n; s > 0; s >>= 1) a[128 * i + s] = 1;
}

// Pointers that change roles: both, anywhere.
// CHECK-LABEL: kernel ping_pong(
// CHECK-NEXT: may write b anywhere: pointer carried around a loop{{$}}
// CHECK-NEXT: may write a anywhere: pointer carried around a loop{{$}}
// oracle: inexact
kernel void ping_pong(global int* a, global int* b, int n) {
  global int *p = a, *q = b;
  int i = get_global_id(0);
  for (int k = 0; k < n; ++k) {
    p[i] = k;
    global int* t = p; p = q; q = t;
  }
}
