// Structs of particles, updated in place from a frozen copy; forces by tiles; Verlet neighbours.
//@ splits forces
//@ buffer p 256*48 float 1
//@ buffer f 256*16 zero
//@ buffer neighbours 256*8*4 below:256 2
//@ for t 0..2
//@ run forces g=256 l=32 : p f local=32*16
//@ run neighbours_of g=256 l=32 : p f neighbours
//@ run push g=256 l=32 : p f float=0.01
//@ end
typedef struct { float4 position; float3 velocity; float mass; int charge; } __attribute__((aligned(16))) Particle;
kernel void forces(global const Particle* p, global float4* f, local float4* tile) {
  size_t i = get_global_id(0), l = get_local_id(0);
  float4 me = p[i].position, sum = 0;
  for (size_t t = 0; t < get_num_groups(0); ++t) {
    tile[l] = p[t * get_local_size(0) + l].position;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t j = 0; j < get_local_size(0); ++j) {
      float4 d = tile[j] - me;
      sum += d / (dot(d.xyz, d.xyz) + 0.01f);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  f[i] = sum;
}
kernel void neighbours_of(global const Particle* p, global float4* f, global const uint* neighbours) {
  size_t i = get_global_id(0);
  for (int k = 0; k < 8; ++k) {
    uint j = neighbours[i * 8 + k];
    if (j == i)
      continue;
    f[i].xy += p[j].position.xy * 0.001f;
  }
}
kernel void push(global Particle* p, global const float4* f, float dt) {
  global Particle* me = &p[get_global_id(0)];
  me->velocity += dt * f[get_global_id(0)].xyz;
  me->position.xyz += dt * me->velocity;
  if (fabs(me->position.x) > 1.0f)
    me->velocity.x = -me->velocity.x;
}
