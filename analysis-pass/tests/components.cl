// Components of vectors are written one by one, and others may write their neighbours.
// RUN: %splitc --emit=accesses %s | %FileCheck %s

// A component is written, the vector around it perhaps stored back.
// CHECK-LABEL: kernel neighbours(
// CHECK-NEXT: reads f at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 4, 12 bytes{{$}}
// CHECK-NEXT: reads f at 16*(G0 + 1), 16 bytes{{$}}
// CHECK-NEXT: may store back f at 16*(G0 + 1), 4 bytes{{$}}
// CHECK-NEXT: writes f at 16*(G0 + 1) + 4, 4 bytes{{$}}
// CHECK-NEXT: may store back f at 16*(G0 + 1) + 8, 8 bytes{{$}}
kernel void neighbours(global float4* f) {
  int i = get_global_id(0);
  f[i].x = 1;
  f[i + 1].y = 2;
}

// CHECK-LABEL: kernel halves(
// CHECK-NEXT: reads g at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: reads f at 32*G0, 32 bytes{{$}}
// CHECK-NEXT: writes f at 32*G0, 16 bytes{{$}}
// CHECK-NEXT: may store back f at 32*G0 + 16, 16 bytes{{$}}
kernel void halves(global int8* f, global const int4* g) {
  int i = get_global_id(0);
  f[i].lo = g[i];
}

// CHECK-LABEL: kernel swizzle(
// CHECK-NEXT: reads f at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0 + 4, 4 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 8, 4 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0 + 12, 4 bytes{{$}}
kernel void swizzle(global float4* f, float2 v) { f[get_global_id(0)].wy = v; }

// In the end all of the vector.
// CHECK-LABEL: kernel all_one_by_one(
// CHECK-NEXT: reads g at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: reads f at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 4, 12 bytes{{$}}
// CHECK-NEXT: reads g at 4*(G0 + 1), 4 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0, 8 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 8, 8 bytes{{$}}
// CHECK-NEXT: reads g at 4*(G0 + 2), 4 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0, 12 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 12, 4 bytes{{$}}
// CHECK-NEXT: reads g at 4*(G0 + 3), 4 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0, 16 bytes{{$}}
kernel void all_one_by_one(global float4* f, global const float* g) {
  int i = get_global_id(0);
  f[i].x = g[i];
  f[i].y = g[i + 1];
  f[i].z = g[i + 2];
  f[i].w = g[i + 3];
}

// Clang loads the vector anew.
// CHECK-LABEL: kernel between(
// CHECK-NEXT: reads f at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 4, 12 bytes{{$}}
// CHECK-NEXT: writes h at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0 + 4, 4 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 8, 8 bytes{{$}}
kernel void between(global float4* f, global float* h) {
  int i = get_global_id(0);
  f[i].x = 1;
  h[i] = 2;
  f[i].y = 3;
}

// What is read is told by components where the buffer is written too.
// CHECK-LABEL: kernel guarded(
// CHECK-NEXT: reads f at 16*G0, 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: reads f at 16*G0 + 4, 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: reads f at 16*G0 + 8, 8 bytes, if G0 < n{{$}}
// CHECK-NEXT: may store back f at 16*G0, 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: writes f at 16*G0 + 4, 4 bytes, if G0 < n{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 8, 8 bytes, if G0 < n{{$}}
kernel void guarded(global float4* f, int n) {
  int i = get_global_id(0);
  if (i < n) f[i].y = -f[i].y;
}

// CHECK-LABEL: kernel on_data(
// CHECK-NEXT: reads f at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: reads f at 16*G0 + 4, 4 bytes{{$}}
// CHECK-NEXT: reads f at 16*G0 + 8, 8 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: may write f at 16*G0 + 4, 4 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 8, 8 bytes{{$}}
kernel void on_data(global float4* f) {
  int i = get_global_id(0);
  if (f[i].y < 0) f[i].y = -f[i].y;
}

// The padding of a vector of three is anybody's.
// CHECK-LABEL: kernel three(
// CHECK-NEXT: reads f at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0, 8 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0 + 8, 4 bytes{{$}}
// CHECK-NEXT: may write f at 16*G0 + 12, 4 bytes{{$}}
kernel void three(global float3* f) { f[get_global_id(0)].z = 1; }

// The component is chosen when the kernel runs.
// CHECK-LABEL: kernel chosen(
// CHECK-NEXT: reads f at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: may write f at 16*G0, 16 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0, 16 bytes{{$}}
kernel void chosen(global int4* f, int k) { f[get_global_id(0)][k] = 1; }

// Others may have written since: it may be the old value or a new one that is stored.
// CHECK-LABEL: kernel barrier_between(
// CHECK-NEXT: depends on work-groups{{$}}
// CHECK-NEXT: reads f at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: reads f at 16*G0 + 4, 12 bytes{{$}}
// CHECK-NEXT: writes f at 16*G0, 4 bytes{{$}}
// CHECK-NEXT: may write f at 16*G0 + 4, 12 bytes{{$}}
// CHECK-NEXT: may store back f at 16*G0 + 4, 12 bytes{{$}}
kernel void barrier_between(global float4* f) {
  int i = get_global_id(0);
  float4 t = f[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  t.x = 1;
  f[i] = t;
}

// CHECK-LABEL: kernel loop(
// CHECK-NEXT: reads f at 16*G0, 4 bytes, k0 < max(n, 0){{$}}
// CHECK-NEXT: reads f at 16*G0 + 4, 12 bytes, k0 < max(n, 0){{$}}
// CHECK-NEXT: writes f at 16*G0, 4 bytes, k0 < max(n, 0){{$}}
// CHECK-NEXT: may store back f at 16*G0 + 4, 12 bytes, k0 < max(n, 0){{$}}
kernel void loop(global float4* f, int n) {
  int i = get_global_id(0);
  for (int k = 0; k < n; ++k) f[i].x += k;
}
typedef struct { float4 pos; float4 vel; } Particle;

// CHECK-LABEL: kernel member(
// CHECK-NEXT: reads p at 32*G0 + 16, 12 bytes{{$}}
// CHECK-NEXT: reads p at 32*G0 + 28, 4 bytes{{$}}
// CHECK-NEXT: reads p at 32*G0, 12 bytes{{$}}
// CHECK-NEXT: reads p at 32*G0 + 12, 4 bytes{{$}}
// CHECK-NEXT: writes p at 32*G0, 12 bytes{{$}}
// CHECK-NEXT: may store back p at 32*G0 + 12, 4 bytes{{$}}
kernel void member(global Particle* p, float dt) {
  int i = get_global_id(0);
  p[i].pos.xyz += p[i].vel.xyz * dt;
}

// CHECK-LABEL: kernel anywhere(
// CHECK-NEXT: reads at at 4*G0, 4 bytes{{$}}
// CHECK-NEXT: reads at anywhere: value loaded from `at`{{$}}
// CHECK-NEXT: reads f anywhere: value loaded from `at`{{$}}
// CHECK-NEXT: may write f anywhere: value loaded from `at`{{$}}
// CHECK-NEXT: may store back f anywhere: value loaded from `at`{{$}}
// CHECK-NEXT: writes at at 4*(G0 + 1), 4 bytes{{$}}
kernel void anywhere(global char2* f, global int* at) { int i = get_global_id(0); f[at[at[i]]].x = 1; at[i+1] = 0; }

// What a loop carries was loaded in the round before, from another place: it may be new here.
// CHECK-LABEL: kernel shifted(
// CHECK: may write f at 16*(G0*n + k0), 16 bytes
kernel void shifted(global float4* f, int n) {
  int i = get_global_id(0);
  float4 previous = 0;
  for (int k = 0; k < n; k++) {
    float4 current = f[i * n + k];
    f[i * n + k] = previous;
    previous = current;
  }
}

// CHECK-LABEL: kernel shifted_but_for_the_first(
// CHECK: may write f at 16*(G0*n + k0{{.*}}, 16 bytes
kernel void shifted_but_for_the_first(global float4* f, int n) {
  int i = get_global_id(0);
  float4 previous;
  for (int k = 0; k < n; k++) {
    float4 current = f[i * n + k];
    if (k > 0)
      f[i * n + k] = previous;
    previous = current;
  }
}

// One place, whatever the round: the sum of one component is kept in a register.
// CHECK-LABEL: kernel same_place(
// CHECK: may store back f at 16*G0 + 4, 12 bytes
kernel void same_place(global float4* f, int n) {
  int i = get_global_id(0);
  float4 all = f[i];
  for (int k = 0; k < n; k++)
    all.x += k;
  f[i] = all;
}
